import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { checkArchives } from "#src/cli/check/findings/archives.ts";
import { configSchema } from "#src/config/schema.ts";
import { peekSecrets } from "#src/config/secrets/secrets.ts";
import { type S3Server, startS3 } from "../../../../scripts/test-services/s3.ts";

let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3("archives");
}, 60_000);
afterAll(() => s3.stop());

const bucket = (url: string, more: object = {}) => ({
  ...{ url, endpoint: s3.endpoint, access_key_id: s3.accessKeyId, secret_access_key_env: "ARCHIVE_KEY" },
  ...more,
});

async function check(receipts: object, key = s3.secretAccessKey) {
  const config = configSchema.parse({ models: [], receipts });
  return checkArchives(config, await peekSecrets(config, { ARCHIVE_KEY: key }));
}

test("a bucket is looked into with the configured key; a folder is not checked", async () => {
  expect(await check({ keep_days: 30 })).toEqual([]);
  expect(await check({ keep_days: 30, archive_s3: bucket("s3://archives/of/ours") })).toEqual([
    { part: "archives", status: "ok", message: "s3://archives/of/ours can be read" },
  ]);
  expect(await check({ archive_s3: bucket("s3://archives") })).toMatchObject([
    { status: "warning", message: expect.stringContaining("receipts.keep_days is not set") },
  ]);
});

test("archives beside the journal are warned of where there may be several cores, which would not find each other's", async () => {
  const TOLLGATE_STORAGE_URL = "postgresql://127.0.0.1/tollgate";
  const secrets = { TOLLGATE_STORAGE_URL, TOLLGATE_OPERATOR_TOKEN: "token", TOLLGATE_KEY_PEPPER: "pepper" };
  const ask = async (receipts: object) => {
    const config = configSchema.parse({ models: [], receipts });
    return checkArchives(config, await peekSecrets(config, secrets));
  };
  expect(await ask({ keep_days: 30 })).toMatchObject([
    { status: "warning", message: expect.stringContaining("set receipts.archive_dir or receipts.archive_s3") },
  ]);
  expect([await ask({}), await ask({ keep_days: 30, archive_dir: "/shared" })]).toEqual([[], []]);
});

test("a wrong key and a bucket that is not there are told", async () => {
  const of = (url: string) => ({ keep_days: 30, archive_s3: bucket(url) });
  expect(await check(of("s3://archives"), "wrong")).toMatchObject([
    { status: "wrong", message: expect.stringContaining("403 SignatureDoesNotMatch") },
  ]);
  expect(await check(of("s3://others"))).toMatchObject([
    { status: "wrong", message: expect.stringContaining("404 NoSuchBucket") },
  ]);
});

test.each([
  ["a secret in no place", { secret_access_key_env: undefined }, "needs exactly one of secret_access_key_file"],
  ["an endpoint that anybody can listen to", { endpoint: "http://s3.example.com" }, "must be an https address"],
  ["an endpoint with a path", { endpoint: "https://example.com/s3" }, "must be an https address"],
  ["no bucket", { url: "s3://" }, "must be s3://BUCKET"],
  ["a name that a signature would spell otherwise", { url: "s3://archives/a+b" }, "must be s3://BUCKET"],
])("refuses %s", (_, more, message) => {
  const parsed = configSchema.safeParse({ models: [], receipts: { archive_s3: bucket("s3://archives", more) } });
  expect(parsed.error?.message).toContain(message);
});

test("archives have one place", () => {
  const receipts = { archive_dir: "/archive", archive_s3: bucket("s3://archives") };
  expect(configSchema.safeParse({ models: [], receipts }).error?.message).toContain("at most one of");
});
