import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { readAuthorization } from "#src/fleet/engines/shared/authorization.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-api-key-"));
const file = join(folder, "key");
afterAll(() => rmSync(folder, { recursive: true }));

const server = { url: "http://10.0.0.5:8000" };

test("no file, no header", () => {
  expect(readAuthorization(server)).toBeUndefined();
});

test.each([
  ["a key\n", "Bearer a key"],
  ["  key\r\n\n", "Bearer key"],
])("the file's text without white space around it: %j", (text, header) => {
  writeFileSync(file, text);
  expect(readAuthorization({ ...server, api_key_file: file })).toBe(header);
});

test("an empty file, or none, is told", () => {
  writeFileSync(file, "\n");
  expect(() => readAuthorization({ ...server, api_key_file: file })).toThrow(/10\.0\.0\.5:8000: .*key is empty/);
  expect(() => readAuthorization({ ...server, api_key_file: join(folder, "none") })).toThrow(/ENOENT/);
});
