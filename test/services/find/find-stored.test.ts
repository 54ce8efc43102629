import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { toUseKey } from "#src/identity/accounts/keys/use-key.ts";
import { findStored, toStatement } from "#src/services/find/find-stored.ts";
import { queriesFor } from "#src/services/find/queries.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { databases, dialects } from "../../money/databases.ts";
import { openMetering, request, run, usd } from "../../money/fixture.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

const newDatabase = databases();

describe.each(dialects)("%s", (dialect) => {
  const start = async () => {
    const clock = new ManualClock(Date.now());
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { storage } = metering;
    const keys = new ApiKeys({
      storage,
      clock,
      random: systemRandom,
      pepper: { version: 1, secret: "p" },
      prefix: "tg-",
    });
    const open = async (name: string) => {
      const id = await metering.account({ paid: usd });
      await storage.orm.em.fork().nativeUpdate(Account, id, { name, nameKey: toNameKey(name) });
      return id;
    };
    const find = async (text: string, accountId = "") =>
      (await findStored(storage, { text, accountId, namesAccounts: true, limit: 10 })).map(
        ({ kind, id }) => `${kind} ${id}`,
      );
    return { metering, keys, clock, open, find };
  };

  test("accounts by any part of their name or id, ignoring case", async () => {
    const { metering, open, find } = await start();
    const [one, other] = [await open("Aster Labs"), await open("The Ästers 100%")];
    expect(await find("STER")).toEqual([`account ${one}`, `account ${other}`]); // the closer one first
    expect(await find("100%")).toEqual([`account ${other}`]);
    expect(await find("ÄSTER")).toEqual([`account ${other}`]);
    expect(await find(one)).toEqual([`account ${one}`]);
    expect(await find(one.slice(20, 36))).toEqual([`account ${one}`]);
    expect(await find("ster", one)).toEqual([`account ${one}`]);
    expect(await find("nobody")).toEqual([]);
    await metering.close();
  });

  test("keys by their prefix, their last four, both, the whole key, or a part of their name", async () => {
    const { metering, keys, open, find } = await start();
    const account = await open("An account");
    const { key, secret } = await keys.create(account, "Nightly build_1");
    await keys.create(account, "Nightly buildX1");
    const found = `key ${key.id}`;
    expect(await find(key.last4)).toContain(found);
    expect(await find(key.prefix)).toContain(found);
    for (const text of [secret, `${key.prefix}…${key.last4}`, key.id, "nightly build_1", "BUILD_1"]) {
      expect(await find(text)).toEqual([found]);
    }
    expect(await find(secret, await open("Another"))).toEqual([]);
    await metering.close();
  });

  test("what is called exactly so comes first, however many others contain it", async () => {
    const { metering, keys, open, find } = await start();
    const account = await open("Customer 1");
    const { key } = await keys.create(account, "Build 1");
    for (let number = 10; number < 22; number++) {
      await keys.create(await open(`Customer ${number}`), `Build ${number}`);
    }
    const [accounts, builds] = [await find("customer 1"), await find("build 1")];
    expect([accounts[0], accounts.length]).toEqual([`account ${account}`, 10]);
    expect([builds[0], builds.length]).toEqual([`key ${key.id}`, 10]);
    await metering.close();
  });

  test("a key by a name that looks like a whole key, or has letters beyond ASCII", async () => {
    const { metering, keys, open, find } = await start();
    const account = await open("An account");
    for (const name of ["ci-production", "Übung"]) {
      const { key } = await keys.create(account, name);
      expect(await find(name)).toEqual([`key ${key.id}`]);
    }
    await metering.close();
  });

  test("requests by their id, finished and refused, and payments by their reference", async () => {
    const { metering, clock, open, find } = await start();
    const account = await open("Payer");
    const wanted = request(account, { inputTokens: 10, outputTokens: 20 });
    await clock.until(run(metering.ledger, wanted));
    expect(await find(wanted.requestId)).toEqual([`request ${wanted.requestId}`]);
    expect(await find(wanted.requestId.replace("req_", "chatcmpl-"))).toEqual([`request ${wanted.requestId}`]);
    const refused = {
      ...{ requestId: "req_refused", accountId: account, keyId: "", surface: "chat", model: "", reason: "TIMEOUT" },
      ...{ httpStatus: 504, durationMs: 1, server: "", leftOut: 0, at: clock.now() },
    };
    await clock.until(metering.store.recordRequests([refused], { before: 0, most: 1000 }));
    expect(await find("req_refused")).toEqual(["request req_refused"]);
    for (const { requestId } of [wanted, refused]) {
      expect(await find(requestId, account)).toEqual([`request ${requestId}`]);
      expect(await find(requestId, await open("Another"))).toEqual([]);
    }
    const reference = v7();
    await metering.funds.credit({ accountId: account, kind: "paid", amount: usd, reference });
    expect(await find(reference)).toEqual([`payment ${reference}`]);
    await metering.close();
  });

  test("nothing that grows with requests is read as a whole", async () => {
    const { metering } = await start();
    const { storage } = metering;
    const texts = ["req_1", "Aster", "WxYz", "tg-AbCd", v7()];
    for (const asked of texts.flatMap((text) =>
      ["", v7()].map((accountId) => ({ text, accountId, namesAccounts: true, limit: 10 })),
    )) {
      for (const search of queriesFor(dialect, asked)) {
        const { sql, parameters } = toStatement(search, asked);
        const explain = dialect === "sqlite" ? "explain query plan" : "explain";
        const snapshot = await storage.snapshot();
        if (dialect === "postgresql") {
          await snapshot.few("set local enable_seqscan = off");
        }
        const rows = await snapshot.few(`${explain} ${sql}`, parameters);
        const steps = rows.flatMap((row) => Object.values(row).map(String)).join(" ");
        await snapshot.close();
        expect(`${sql}: ${steps}`).not.toMatch(/(SCAN|Seq Scan on) (usage|request_record|payment)\b/);
        expect(`${sql}: ${steps}`).not.toMatch(/SEARCH (usage|request_record) USING INDEX \w+_account_id/);
      }
    }
    await metering.close();
  });

  test("keys of all accounts: the last used first, then those never used, page by page", async () => {
    const { metering, keys, clock, open } = await start();
    const made: string[] = [];
    for (let at = 0; at < 6; at++) {
      made.push((await keys.create(await open(`a${at}`), `k${at}`)).key.id);
      clock.advance(10);
    }
    const [a = "", b = "", c = "", d = "", e = "", f = ""] = made;
    await keys.storeLastUsed([b, d], new Date(clock.now()));
    await keys.storeLastUsed([a], new Date(clock.now() + 1000));
    const expected = [a, d, b, f, e, c];
    const all: string[] = [];
    for (let after: string | undefined; all.length < expected.length; ) {
      const page = await keys.listByUse({ after, limit: 2 });
      all.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      after = last && toUseKey(last);
    }
    expect(all).toEqual(expected);
    await metering.close();
  });
});
