import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { validate, version } from "uuid";
import { isChecked, newCheckedSecret } from "../../../lib/ids/checked-secret.ts";
import { systemRandom } from "../../../lib/ids/random.ts";
import { newRequestId, readRequestTime } from "../../../lib/ids/request-id.ts";
import { lastShard, markId, markRandom, readIdShard, readKeyShard, readRequestShard } from "../../../lib/ids/shard.ts";

const shards = fc.integer({ min: 1, max: lastShard });

test("an id, a key and a request tell their shard", () => {
  fc.assert(
    fc.property(shards, (shard) => {
      const id = markRandom(systemRandom, shard).uuid();
      expect([validate(id), version(id), readIdShard(id)]).toEqual([true, 8, shard]);
      expect(readRequestShard(newRequestId(systemRandom, shard))).toBe(shard);
      const key = newCheckedSecret("tg-", systemRandom, shard);
      expect(key).toMatch(/^tg-z[0-9A-Za-z]{48}$/);
      expect([isChecked(key), readKeyShard(key), readKeyShard(`Bearer ${key}`)]).toEqual([true, shard, shard]);
    }),
  );
});

test("what is made without a shard has no mark, whatever the random bits", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const random = { ...systemRandom, bytes: () => bytes };
      const key = newCheckedSecret("tg-", random);
      expect(key[3]).not.toBe("z");
      expect(readKeyShard(key)).toBe(0);
    }),
  );
  const highest = newCheckedSecret("tg-", { ...systemRandom, bytes: (length) => new Uint8Array(length).fill(255) });
  expect(readKeyShard(highest)).toBe(0);
  const id = systemRandom.uuid();
  expect([version(id), markId(id, 0), readIdShard(id)]).toEqual([7, id, 0]);
  expect(readRequestShard(newRequestId(systemRandom))).toBe(0);
});

test("a marked id keeps the time of its making", () => {
  const id = systemRandom.uuid();
  expect(markId(id, 7).slice(0, 14)).toBe(id.slice(0, 14));
  const before = Date.now();
  const madeAt = readRequestTime(newRequestId(systemRandom, 7)) ?? 0;
  expect(madeAt).toBeGreaterThanOrEqual(before);
  expect(madeAt).toBeLessThanOrEqual(Date.now());
});

test.each([
  ["nothing", ""],
  ["no dash", "z01abc"],
  ["a key that is cut", newCheckedSecret("tg-", systemRandom, 3).slice(0, -1)],
  ["a mark of shard 0", `tg-z00${"a".repeat(46)}`],
  ["a mark above the last shard", `tg-zzz${"a".repeat(46)}`],
  ["characters that no key has", `tg-z__${"a".repeat(46)}`],
  ["another scheme", "Basic dXNlcjpwYXNzd29yZA=="],
])("reads no shard from %s", (_, text) => {
  expect(readKeyShard(text)).toBe(0);
});

test.each([
  ["a caller's own", "order-8-of-today"],
  ["one that is cut", "req_0123456789ab8001"],
  ["one with other characters", `req_0123456789ab8001${"x".repeat(16)}`],
])("reads no shard from a request id that is %s", (_, requestId) => {
  expect(readRequestShard(requestId)).toBe(0);
});
