import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { ArchivePlace } from "#src/money/retention/place.ts";
import { archiveBucket } from "#src/money/retention/s3/archive-bucket.ts";
import { type S3Server, startS3 } from "../../../../scripts/test-services/s3.ts";
import { Relay } from "./relay.ts";

// A real server of S3's protocol, behind a relay that counts requests and answers some of them itself.

let s3: S3Server;
let relay: Relay;

beforeAll(async () => {
  s3 = await startS3("archives");
  relay = await Relay.start(s3.endpoint);
}, 60_000);
afterAll(async () => {
  relay.close();
  await s3.stop();
});
beforeEach(() => {
  [relay.asked, relay.answer] = [[], () => undefined];
});

function place(more: object = {}, partBytes?: number): ArchivePlace {
  const { accessKeyId, secretAccessKey } = s3;
  const options = { region: "us-east-1", bucket: "archives", prefix: "a/b/", accessKeyId, secretAccessKey };
  return archiveBucket({ endpoint: relay.endpoint, ...options, ...more }, partBytes);
}

async function write(to: ArchivePlace, name: string, content: Buffer, pieces = 1) {
  const file = await to.create(name);
  const size = Math.ceil(content.length / pieces);
  for (let at = 0; at < content.length; at += size) {
    await file.write(content.subarray(at, at + size));
  }
  return file.finish();
}

async function digestOf(from: ArchivePlace, name: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of from.stream(name)) {
    hash.update(piece);
  }
  return hash.digest("hex");
}

const reason = (call: Promise<unknown>) => call.then(String, ({ message }: Error) => message);

test("a small file is one request; what is read is what was written, whole and in parts of it", async () => {
  const content = randomBytes(1000);
  const sha256 = createHash("sha256").update(content).digest("hex");
  expect(await write(place(), "small.gz", content, 7)).toEqual({ bytes: 1000, sha256 });
  expect(relay.asked).toMatchObject([{ what: "PUT /archives/a/b/small.gz", bytes: 1000 }]);
  expect(await digestOf(place(), "small.gz")).toBe(sha256);
  const open = await place().open("small.gz");
  expect(await open.read(990, 10)).toEqual(content.subarray(990));
  expect(await reason(open.read(995, 10))).toBe("an archive ended too soon");
  expect(await place().identify("small.gz")).toMatch(/ 1000 /);
  expect(await place().identify("other.gz")).toBeUndefined();
});

test("a large file goes in parts, of which one is in memory, and is there only when it is complete", async () => {
  const partBytes = 5 * 2 ** 20;
  const content = randomBytes(2 * partBytes + 77);
  const file = await place({}, partBytes).create("large.gz");
  await file.write(content.subarray(0, partBytes));
  await file.write(content.subarray(partBytes, 2 * partBytes));
  await file.write(content.subarray(2 * partBytes));
  expect(await place().identify("large.gz")).toBeUndefined();
  const { sha256 } = await file.finish();
  expect(sha256).toBe(createHash("sha256").update(content).digest("hex"));
  expect(await digestOf(place(), "large.gz")).toBe(sha256);
  expect(relay.asked.filter(({ what }) => what.startsWith("PUT")).map(({ bytes }) => bytes)).toEqual([
    partBytes,
    partBytes,
    77,
  ]);
  expect(relay.asked.filter(({ what }) => what.includes("uploads"))).toHaveLength(1);
});

test("a file that is given up leaves nothing", async () => {
  const file = await place({}, 100).create("given-up.gz");
  await file.write(randomBytes(200));
  await file.abandon();
  expect(relay.asked.at(-1)?.what).toMatch(/^DELETE .*uploadId=/);
  expect(await place().identify("given-up.gz")).toBeUndefined();
});

test("what a bucket cannot answer is asked three times, and then told with the object's address", async () => {
  let left = 2;
  relay.answer = () => (left-- > 0 ? { status: 503 } : undefined);
  await write(place(), "again.gz", randomBytes(10));
  expect(relay.asked).toHaveLength(3);
  relay.answer = () => ({
    status: 500,
    body: "<Error><Code>InternalError</Code><Message>We failed.</Message></Error>",
  });
  const failed = await reason(write(place(), "never.gz", randomBytes(10)));
  expect(failed).toMatch(/http:\/\/127.*\/archives\/a\/b\/never\.gz: 500 InternalError: We failed\./);
  expect(relay.asked).toHaveLength(6);
});

test("of an answer that is larger than what was asked for, no more than that is read", async () => {
  const body = "x".repeat(64 * 1024 + 1);
  relay.answer = () => ({ status: 200, body });
  const tooLarge = /many\.gz: the bucket's answer is larger than 65536 bytes/;
  expect(await reason((await place().open("many.gz")).read(0, 10))).toMatch(tooLarge);
  relay.answer = () => ({ status: 403, body });
  expect(await reason(place().identify("many.gz"))).toMatch(tooLarge);
});

test("parts that could not be put together are no file, whatever the status says", async () => {
  relay.answer = (what) =>
    /POST .*uploadId/.test(what)
      ? { status: 200, body: "<Error><Code>InternalError</Code><Message>We failed late.</Message></Error>" }
      : undefined;
  expect(await reason(write(place({}, 100), "late.gz", randomBytes(200)))).toBe(
    "the bucket did not put the parts together: We failed late.: late.gz",
  );
});

test("a wrong key, a bucket that is not there and a server that is away are told apart, and never taken for a file that is gone", async () => {
  expect(await reason(place({ secretAccessKey: "other" }).identify("small.gz"))).toMatch(/403 SignatureDoesNotMatch/);
  expect(await reason(place({ bucket: "nothing" }).identify("small.gz"))).toMatch(/404 NoSuchBucket/);
  expect(await reason(place({ endpoint: "http://127.0.0.1:1" }).identify("small.gz"))).toMatch(/bad port|ECONNREFUSED/);
});
