import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { expect, test } from "@jest/globals";
import { ListSealsResponseSchema } from "#gen/tollgate/chat/v1/seal_pb.js";
import { sealList } from "../../../../facades/chat/account/seals.ts";
import { jsonEncoder } from "../../../../facades/http/json/encoder.ts";

test("a seal is told with its place, its day and its digests", () => {
  const seal = { number: 7, day: "2026-01-31", root: "ab", sums: "cd", chain: "ef" };
  const sealedAt = timestampFromDate(new Date("2026-02-01T01:00:00.000Z"));
  const json = jsonEncoder(ListSealsResponseSchema)(
    sealList([{ $typeName: "tollgate.metering.v1.Seal", ...seal, sealedAt }]),
  );
  expect(JSON.parse(String(json))).toEqual({ data: [{ ...seal, sealed_at: "2026-02-01T01:00:00.000Z" }] });
});
