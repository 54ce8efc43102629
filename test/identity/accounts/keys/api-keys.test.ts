import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { toDigest } from "#src/identity/accounts/keys/api-key.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { Account } from "#src/storage/entities/account.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../../money/databases.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../../support/reason-of.ts";

const pepper = { version: 3, secret: "pepper" };
const hour = 3_600_000;

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  let clock: ManualClock;
  let keys: ApiKeys;
  beforeAll(async () => {
    storage = await openStorage(await newDatabase(dialect));
    clock = new ManualClock();
    keys = new ApiKeys({ storage, clock, random: systemRandom, prefix: "tg-", pepper });
  }, 60_000);
  afterAll(() => storage.close());

  async function account(maxKeys = 3): Promise<string> {
    const id = v7();
    const facts = {
      id,
      name: "",
      nameKey: Buffer.of(),
      maxKeys,
      createdAt: new Date(clock.now()),
      paidTotal: 0n,
      debt: 0n,
    };
    await storage.orm.em.fork().insert(Account, facts);
    return id;
  }

  test("a key is found by its digest; its secret is nowhere", async () => {
    const accountId = await account();
    const { key, secret } = await keys.create(accountId, "laptop", { rpm: 7 });
    const digest = toDigest(secret, pepper);
    const found = await keys.find([digest, toDigest(secret, { version: 1, secret: "another" })]);
    expect(found).toMatchObject({ id: key.id, accountId, name: "laptop", limits: { rpm: 7 }, pepperVersion: 3 });
    expect(found).toMatchObject({ prefix: secret.slice(0, 7), last4: secret.slice(-4) });
    expect(JSON.stringify(await storage.orm.em.getConnection().execute("select * from api_key"))).not.toContain(secret);
    expect(await keys.find([toDigest("another", pepper)])).toBeUndefined();
  });

  test("a key that is used after the pepper changed has its digest by the new one", async () => {
    const accountId = await account();
    const { key, secret } = await keys.create(accountId, "");
    const newer = { version: 4, secret: "newer" };
    const renewing = new ApiKeys({ storage, clock, random: systemRandom, prefix: "tg-", pepper: newer });
    const before = await renewing.countByPepper();
    for (const _ of [1, 2]) {
      expect(await renewing.find([toDigest(secret, newer), toDigest(secret, pepper)])).toMatchObject({ id: key.id });
    }
    expect(await keys.find([toDigest(secret, pepper)])).toBeUndefined();
    const after = await renewing.countByPepper();
    expect([after.get(3) ?? 0, after.get(4)]).toEqual([(before.get(3) ?? 0) - 1, 1]);
    await keys.revoke(key.id);
    expect((await renewing.countByPepper()).has(4)).toBe(false);
  });

  test("an account has at most its number of keys, however many are asked for at once", async () => {
    const accountId = await account(3);
    await keys.create(accountId, "");
    await keys.create(accountId, "");
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => reasonOf(keys.create(accountId, ""))));
    expect(outcomes.filter((reason) => reason === undefined)).toHaveLength(1);
    expect(outcomes.filter((reason) => reason === Reason.KEY_LIMIT_REACHED)).toHaveLength(49);
    expect(await keys.list(accountId, { after: undefined, limit: 100 })).toHaveLength(3);
  });

  test("ended keys make room", async () => {
    const accountId = await account(1);
    const first = await keys.create(accountId, "");
    await keys.revoke(first.key.id);
    const second = await keys.create(accountId, "");
    expect((await keys.list(accountId, { after: undefined, limit: 100 })).map((key) => key.id)).toEqual([
      first.key.id,
      second.key.id,
    ]);
  });

  test("a rotated key works on for the overlap and does not count", async () => {
    const accountId = await account(1);
    const { key: old } = await keys.create(accountId, "server", { rpm: 9 });
    const { key: next } = await keys.rotate(old.id, hour);
    expect(next).toMatchObject({ accountId, name: "server", limits: { rpm: 9 }, rotatedFrom: old.id });
    expect(next.limits.expiresAt ?? null).toBeNull();
    expect((await keys.get(old.id)).limits.expiresAt?.getTime()).toBe(clock.now() + hour);
    expect(await reasonOf(keys.create(accountId, ""))).toBe(Reason.KEY_LIMIT_REACHED);
    expect(await reasonOf(keys.rotate(old.id, hour))).toBe(Reason.KEY_STATE_CONFLICT);
    // The chain of overlaps does not grow; an emergency may cut it short.
    expect(await reasonOf(keys.rotate(next.id, hour))).toBe(Reason.KEY_STATE_CONFLICT);
    const { key: third } = await keys.rotate(next.id, 0);
    // Revoked, as a time alone would let it work on where a core's clock is behind.
    const now = new Date(clock.now());
    expect(await keys.get(next.id)).toMatchObject({ limits: { expiresAt: now }, revokedAt: now });
    expect((await keys.get(old.id)).revokedAt).toBeNull();
    clock.advance(hour);
    expect((await keys.rotate(third.id, hour)).key.rotatedFrom).toBe(third.id);
  });

  test.each([
    { end: "revoked", of: (id: string) => keys.revoke(id) },
    { end: "expires", of: (id: string) => keys.update(id, { expiresAt: new Date(clock.now()) }) },
  ])("a rotated key counts once its successor is $end", async ({ of }) => {
    const accountId = await account(1);
    const { key: old } = await keys.create(accountId, "");
    await of((await keys.rotate(old.id, hour)).key.id);
    expect(await reasonOf(keys.create(accountId, ""))).toBe(Reason.KEY_LIMIT_REACHED);
    clock.advance(hour);
    expect(await reasonOf(keys.create(accountId, ""))).toBeUndefined();
  });

  test("of many rotations of a key one succeeds", async () => {
    const { key } = await keys.create(await account(), "");
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => reasonOf(keys.rotate(key.id, hour))));
    expect(outcomes.filter((reason) => reason === undefined)).toHaveLength(1);
  });

  test("a revoked key stays revoked and cannot be rotated", async () => {
    const { key } = await keys.create(await account(), "");
    const revokedAt = (await keys.revoke(key.id)).revokedAt?.getTime();
    expect(revokedAt).toBe(clock.now());
    clock.advance(1000);
    expect((await keys.revoke(key.id)).revokedAt?.getTime()).toBe(revokedAt);
    expect(await reasonOf(keys.rotate(key.id, 0))).toBe(Reason.KEY_STATE_CONFLICT);
  });

  test("a key's own limit can be set and taken away", async () => {
    const { key } = await keys.create(await account(), "");
    await keys.update(key.id, { rpm: 500 });
    expect((await keys.get(key.id)).limits.rpm).toBe(500);
    await keys.update(key.id, { rpm: null });
    expect((await keys.get(key.id)).limits.rpm ?? null).toBeNull();
  });

  test("a key's limits are stored, changed one by one and carried over by rotations", async () => {
    const limits = {
      rpm: 9,
      models: ["a/b", "c"],
      tokensPerMinute: 1000,
      maxInFlight: 3,
      serviceClass: "flex" as const,
      budgetPicoUsd: 10 ** 12,
      budgetPeriod: "month" as const,
      expiresAt: new Date(clock.now() + 10 * hour),
    };
    const { key } = await keys.create(await account(), "", limits);
    expect(await keys.get(key.id)).toMatchObject({ limits });
    const { key: next } = await keys.rotate(key.id, hour);
    expect(await keys.get(next.id)).toMatchObject({ limits, limitsOf: key.id });
    const { key: last } = await keys.rotate(next.id, 0);
    expect(await keys.get(last.id)).toMatchObject({ limits, limitsOf: key.id });
    await keys.update(last.id, { models: null, tokensPerMinute: null });
    const { models, tokensPerMinute, ...others } = limits;
    expect(await keys.get(last.id)).toMatchObject({ limits: { ...others, models: null, tokensPerMinute: null } });
    expect(await keys.update(last.id, { budgetPicoUsd: null })).toMatchObject({
      limits: { budgetPicoUsd: null, budgetPeriod: null },
    });
    await expect(keys.update(last.id, { budgetPeriod: "day" })).rejects.toThrow(
      "no budget that this could be the period of",
    );
    expect(await keys.update(last.id, { budgetPicoUsd: 5 })).toMatchObject({
      limits: { budgetPicoUsd: 5, budgetPeriod: "total" },
    });
    expect(await keys.update(last.id, { budgetPeriod: "day" })).toMatchObject({
      limits: { budgetPicoUsd: 5, budgetPeriod: "day" },
    });
  });

  test("a key that expired lives again where the account has room for it, one that was rotated does not", async () => {
    const accountId = await account(1);
    const { key } = await keys.create(accountId, "", { expiresAt: new Date(clock.now() + hour) });
    clock.advance(hour);
    const { key: other } = await keys.create(accountId, "");
    expect(await reasonOf(keys.update(key.id, { expiresAt: null }))).toBe(Reason.KEY_LIMIT_REACHED);
    await keys.revoke(other.id);
    expect((await keys.update(key.id, { expiresAt: null })).limits.expiresAt).toBeNull();
    await keys.rotate(key.id, hour);
    expect(await reasonOf(keys.update(key.id, { expiresAt: null }))).toBe(Reason.KEY_STATE_CONFLICT);
  });

  test("the last use only moves forward", async () => {
    const { key } = await keys.create(await account(), "");
    const [earlier, later] = [new Date(clock.now() + 1000), new Date(clock.now() + 2000)];
    await keys.storeLastUsed([key.id, v7()], later);
    await keys.storeLastUsed([key.id], earlier);
    expect((await keys.get(key.id)).lastUsedAt).toEqual(later);
  });

  test("unknown ids are told apart", async () => {
    expect(await reasonOf(keys.create(v7(), ""))).toBe(Reason.ACCOUNT_NOT_FOUND);
    expect(await reasonOf(keys.get(v7()))).toBe(Reason.KEY_NOT_FOUND);
    expect(await reasonOf(keys.rotate(v7(), 0))).toBe(Reason.KEY_NOT_FOUND);
    expect(await reasonOf(keys.revoke(v7()))).toBe(Reason.KEY_NOT_FOUND);
    expect(await reasonOf(keys.update(v7(), { rpm: 1 }))).toBe(Reason.KEY_NOT_FOUND);
  });
});
