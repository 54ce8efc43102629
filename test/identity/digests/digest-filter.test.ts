import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { type Random, systemRandom } from "#lib/ids/random.ts";
import { uuidSource } from "#lib/ids/uuid.ts";
import { createAuthenticator } from "#src/identity/accounts/authenticator.ts";
import { newApiKey } from "#src/identity/accounts/keys/api-key.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { LastUsed } from "#src/identity/accounts/keys/last-used.ts";
import { DigestFilter } from "#src/identity/digests/digest-filter.ts";
import { Account } from "#src/storage/entities/account.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { databases, dialects } from "../../money/databases.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { silentLogger } from "../../support/loggers.ts";
import { noSessions } from "../accounts/no-sessions.ts";

const pepper = { version: 1, secret: "pepper" };

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  let storage: Storage;
  beforeAll(async () => {
    storage = await openStorage(await newDatabase(dialect));
  }, 60_000);
  afterAll(() => storage.close());

  async function account(): Promise<string> {
    const id = v7();
    const facts = { id, name: "", nameKey: Buffer.of(), maxKeys: 100, createdAt: new Date(), paidTotal: 0n, debt: 0n };
    await storage.orm.em.fork().insert(Account, facts);
    return id;
  }

  /** A core's part that knows keys, by a clock of its own; `questions` counts what it asked the database. */
  async function startCore(aheadMs = 0) {
    const clock = new ManualClock();
    clock.jump(aheadMs);
    const questions = { found: 0, read: 0 };
    const random: Random = {
      bytes: (length) => systemRandom.bytes(length),
      uuid: uuidSource(
        (bytes) => bytes.set(systemRandom.bytes(bytes.length)),
        () => clock.now(),
      ),
    } as Random;
    const keys: ApiKeys = new ApiKeys({
      ...{ storage, clock, random, pepper, prefix: "tg-" },
      added: (digest) => filter.add(digest),
    });
    const after = (id: string) => {
      questions.read += 1;
      return keys.digestsAfter(id);
    };
    const filter = new DigestFilter({ after, ofAccounts: (ids) => keys.digestsOfAccounts(ids) }, clock);
    await filter.load();
    const authenticator = createAuthenticator({
      sessions: noSessions,
      ...{ operatorToken: "operator", services: [], peppers: [pepper], clock },
      mayExist: (digests) => filter.mayExist(digests),
      findKey: (digests) => {
        questions.found += 1;
        return keys.find(digests);
      },
      findOperator: async () => undefined,
      findAccount: async () => undefined,
      lastUsed: new LastUsed(async () => {}, clock, silentLogger),
    });
    const tryKey = (secret: string) =>
      clock.until(
        Promise.resolve(authenticator.authenticate(secret, undefined)).then(
          () => "let in",
          (error: unknown) => Reason[readDetail(error)?.reason ?? Reason.UNSPECIFIED],
        ),
      );
    return { clock, keys, filter, questions, tryKey };
  }

  test("wrong keys ask for no key, and together ten times a second for new ones", async () => {
    const { clock, questions, tryKey } = await startCore();
    questions.read = 0;
    const since = clock.monotonic();
    for (let round = 0; round < 10; round += 1) {
      const tries = Array.from({ length: 50 }, () => tryKey(newApiKey("tg-", systemRandom)));
      expect(new Set(await Promise.all(tries))).toEqual(new Set(["UNAUTHENTICATED"]));
    }
    expect(questions.found).toBe(0);
    const questionsAllowed = 1 + (clock.monotonic() - since) / 100;
    expect(questions.read).toBeLessThanOrEqual(2 * questionsAllowed); // each time the new ones, and that there are no more
  });

  test("a key works at once on the core that made it", async () => {
    const { keys, tryKey } = await startCore();
    const { secret } = await keys.create(await account(), "");
    expect(await tryKey(secret)).toBe("let in");
  });

  test("a key of another core works at its first use though nobody told of it, right after a wrong one", async () => {
    const [here, there] = [await startCore(), await startCore()];
    await here.tryKey(newApiKey("tg-", systemRandom));
    const { secret } = await there.keys.create(await account(), "");
    expect(await here.tryKey(secret)).toBe("let in");
  });

  test.each([
    ["goes with this one's", 0],
    ["is an hour behind", -3_600_000],
    ["is a day ahead", 86_400_000],
  ])("an announced key of a core whose clock %s works at once", async (_what, aheadMs) => {
    const [here, there] = [await startCore(), await startCore(aheadMs)];
    here.clock.advance(100);
    await here.tryKey(newApiKey("tg-", systemRandom));
    const accountId = await account();
    const { secret } = await there.keys.create(accountId, "");
    here.filter.announce(accountId);
    expect(await here.tryKey(secret)).toBe("let in");
  });

  test("a clock that is ahead elsewhere hides no key of other cores", async () => {
    const ahead = await startCore(86_400_000);
    await ahead.keys.create(await account(), "");
    const [here, there] = [await startCore(), await startCore()];
    const { secret } = await there.keys.create(await account(), "");
    expect(await here.tryKey(secret)).toBe("let in");
  });

  test("a revoked key is still told from an unknown one", async () => {
    const { keys, tryKey, questions } = await startCore();
    const { key, secret } = await keys.create(await account(), "");
    await keys.revoke(key.id);
    expect(await tryKey(secret)).toBe("UNAUTHENTICATED");
    expect(questions.found).toBe(1);
  });

  test("until all digests were read every key may exist", async () => {
    const { keys } = await startCore();
    const filter = new DigestFilter(
      { after: (id) => keys.digestsAfter(id), ofAccounts: (ids) => keys.digestsOfAccounts(ids) },
      new ManualClock(),
    );
    expect(filter.mayExist([new Uint8Array(32)])).toBe(true);
    await filter.load();
    expect(await filter.mayExist([new Uint8Array(32)])).toBe(false);
  });
});
