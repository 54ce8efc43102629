import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";

// `npm run lint` compares the contracts with those of the last release. This shows that it would notice.

const root = fileURLToPath(new URL("../..", import.meta.url));
const service = "proto/tollgate/inference/v1/inference_service.proto";
let copy: string;

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), "tollgate-proto-"));
  for (const part of ["buf.yaml", "proto"]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
});
afterAll(() => rmSync(copy, { recursive: true }));

test.each([
  ["another type", "string model = 2;", "uint32 model = 2;", "changed type"],
  ["another name", "string model = 2;", "string name = 2;", "model"],
  ["a field that is gone", "  string model = 2;\n", "", "deleted"],
  ["a new field", "string model = 2;", "string model = 2;\n  // New.\n  string new = 99;", undefined],
])("%s", (_, before, after, complaint) => {
  const original = readFileSync(join(root, service), "utf8");
  expect(original).toContain(before);
  writeFileSync(join(copy, service), original.replace(before, after));
  const command = ["breaking", "proto", "--against", "proto/baseline.binpb"];
  expect(readFileSync(join(root, "package.json"), "utf8")).toContain(`buf ${command.join(" ")}`);
  const { status, stdout } = spawnSync(join(root, "node_modules/.bin/buf"), command, { cwd: copy, encoding: "utf8" });
  if (complaint === undefined) {
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  } else {
    expect(stdout).toContain(complaint);
  }
});
