import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { effectiveConfig } from "#src/config/effective.ts";

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tollgate-effective-"));
  file = join(folder, "tollgate.yaml");
  await writeFile(
    file,
    [
      "rate_limits: { url: redis://:cache-secret@cache:6379 }",
      "models:",
      "  - id: one",
      "    price:",
      '      input: "0.10"',
      "    servers:",
      "      - url: http://10.0.0.5:8000",
    ].join("\n"),
  );
});
afterAll(() => rm(folder, { recursive: true }));

const shared = { TOLLGATE_OPERATOR_TOKEN: "token-secret", TOLLGATE_KEY_PEPPER: "1:pepper-secret" };

async function row(setting: string, environment: Record<string, string>, path: string | undefined = file) {
  return (await effectiveConfig(path, environment)).find((one) => one.setting === setting);
}

test.each([
  ["listen.http", "127.0.0.1:8080", "default"],
  ["models[0].id", "one", "FILE:3"],
  ["models[0].price.input", "0.10", "FILE:5"],
  ["models[0].price.floor", 1, "default"],
  ["models[0].servers[0].url", "http://10.0.0.5:8000", "FILE:7"],
  ["rate_limits.url", "redis://:(hidden)@cache:6379", "FILE:1"],
  ["rate_tiers[1].rpm", 300, "default"],
  ["operator_token", "(hidden)", "TOLLGATE_OPERATOR_TOKEN"],
  ["key_pepper", "(hidden)", "TOLLGATE_KEY_PEPPER"],
])("%s is %s from %s", async (setting, value, source) => {
  expect(await row(setting, shared)).toEqual({ setting, value, source: source.replace("FILE", file) });
});

test.each([
  ["postgresql://me:secret@db/tollgate", "postgresql://me:(hidden)@db/tollgate"],
  ["postgresql://me:secret/a@b?c@db/tollgate", "postgresql://me:(hidden)@db/tollgate"],
  ["postgresql://db/tollgate?user=me&password=secret&sslmode=require", /user=me&password=\(hidden\)&sslmode=require$/],
])("a storage URL of the environment wins and hides its password: %s", async (url, shown) => {
  const found = await row("storage.url", { ...shared, TOLLGATE_STORAGE_URL: url });
  expect(found).toMatchObject({ source: "TOLLGATE_STORAGE_URL" });
  expect(found?.value).toEqual(typeof shown === "string" ? shown : expect.stringMatching(shown));
});

test("a setting in a file of its own names the variable that names the file", async () => {
  const path = join(folder, "token");
  await writeFile(path, "token-secret\n");
  const found = await row("operator_token", { TOLLGATE_OPERATOR_TOKEN_FILE: path, TOLLGATE_KEY_PEPPER: "x" });
  expect(found).toMatchObject({ value: "(hidden)", source: "TOLLGATE_OPERATOR_TOKEN_FILE" });
});

test("without a file and an environment there is the default of everything, and no secret is made", async () => {
  const environment = { TOLLGATE_DATA_DIR: join(folder, "data") };
  const settings = await effectiveConfig(undefined, environment);
  expect(new Set(settings.map(({ source }) => source))).toEqual(new Set(["default", "TOLLGATE_DATA_DIR"]));
  expect(settings).toContainEqual(
    expect.objectContaining({ setting: "key_pepper", value: "(made at the first start)" }),
  );
  await expect(rm(join(folder, "data"), { recursive: true })).rejects.toThrow("ENOENT");
});
