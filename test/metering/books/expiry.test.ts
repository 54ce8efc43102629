import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "../../../lib/ids/random.ts";
import { expireLots } from "../../../src/metering/books/expiry.ts";
import { reconcile } from "../../../src/metering/books/reconcile.ts";
import { databases, dialects } from "../databases.ts";
import { openMetering, request, USD } from "../fixture.ts";
import { ManualClock } from "../manual-clock.ts";

const newDatabase = databases();
const OUT = 250_000;

describe.each(dialects)("%s", (dialect) => {
  test("money lapses at its time, but for what is spent or held by a running request", async () => {
    const clock = new ManualClock();
    const metering = await openMetering({ clock, url: await newDatabase(dialect) });
    const { funds, ledger, storage } = metering;
    const account = await metering.account();
    const expiresAt = new Date(clock.now() + 10_000);
    await funds.credit({ accountId: account, kind: "grant", amount: USD, reference: v7(), expiresAt });
    const hold = await ledger.hold(
      request(account, { inputTokens: 0, outputTokens: 100 }),
      new AbortController().signal,
    );
    expect(await expireLots({ storage, clock, random: systemRandom })).toBe(0);

    await clock.pass(12_000);
    expect((await funds.statement(account)).balance).toBe(BigInt(100 * OUT)); // told so before it is written off
    expect(await expireLots({ storage, clock, random: systemRandom })).toBe(1);
    expect((await funds.statement(account)).balance).toBe(BigInt(100 * OUT));
    await clock.until(hold.settle({ inputTokens: 0, outputTokens: 60 }, "completed"));
    await clock.pass(2000);
    await expireLots({ storage, clock, random: systemRandom });
    expect((await funds.statement(account)).balance).toBe(0n);
    const proof = await reconcile(storage);
    expect(proof).toMatchObject({ ok: true, spentPicoUsd: String(60 * OUT), expiredPicoUsd: String(USD - 60 * OUT) });
    await clock.until(metering.close());
  });
});
