import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "@jest/globals";

// Files that others own are kept byte for byte, so that tools which bring their own copy agree with ours.
test.each([
  ["google/api/annotations.proto", "e79ea741cb605a65e78ca322174764a4af9fde1962c1631e12b84c4934ba9a6c"],
  ["google/api/http.proto", "ead99129aa15dd5f6233942030c72eec33bc0d7b1c7c260dc143293ef66c5b78"],
  ["google/rpc/error_details.proto", "5c18d42e6924f447622534b4b7cdb8b53c0606c8ce729b912ee5edf88d1c5520"],
  ["grpc/health/v1/health.proto", "56f603a42e4f9ca2d2f50ec7217871509c090566fefc5cb97aa90d1c1cb2a212"],
  ["grpc/reflection/v1/reflection.proto", "873f0d93cb89138f6cbfce5e3abfa184c41e23cbf8f4837e6317921fa1902299"],
  ["grpc/reflection/v1alpha/reflection.proto", "9dc8aa98b92cdce134932222ee4c96f3a16b8d3142006888a12798a531f726fc"],
])("%s is as its owner published it", (file, digest) => {
  const bytes = readFileSync(new URL(`../../proto/${file}`, import.meta.url));
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(digest);
});
