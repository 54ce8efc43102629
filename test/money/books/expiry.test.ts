import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { systemRandom } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { expireLots } from "#src/money/books/expiry.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { DatabaseClock } from "#src/storage/database-clock.ts";
import { movableClock } from "../../storage/movable-clock.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { databases, dialects } from "../databases.ts";
import { never, openMetering, request, usd } from "../fixture.ts";

const newDatabase = databases();
const out = 250_000;
const dayMs = 86_400_000;
const yes = () => true;
const no = () => false;

/** An account with a gift that lapses after a while, and what turns the database's clock: SQLite has none of its own. */
async function open(dialect: (typeof dialects)[number], lapsesAfterMs: number) {
  const url = await newDatabase(dialect);
  const turn = dialect === "sqlite" ? async () => {} : await movableClock(url);
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock, url });
  const { storage, time, funds, ledger } = metering;
  const account = await metering.account();
  const expiresAt = new Date(time.now() + lapsesAfterMs);
  await funds.credit({ accountId: account, kind: "grant", amount: usd, reference: v7(), expiresAt });
  const hold = () => ledger.hold(request(account, { inputTokens: 0, outputTokens: 100 }), never);
  return {
    ...metering,
    clock,
    turn,
    hold,
    expire: (by = time) => expireLots({ storage, clock: by, random: systemRandom }),
    balance: async () => (await funds.statement(account)).balance,
    spends: async () => (await hold()).release(),
    close: () => clock.until(metering.close()),
  };
}

describe.each(dialects)("%s", (dialect) => {
  test("money lapses at its time, but for what is spent or held by a running request", async () => {
    const { clock, turn, hold, expire, balance, storage, close } = await open(dialect, 10_000);
    const held = await hold();
    expect(await expire()).toBe(0);

    await turn(12_000);
    await clock.pass(12_000);
    expect(await balance()).toBe(BigInt(100 * out)); // told so before it is written off
    expect(await expire()).toBe(1);
    expect(await balance()).toBe(BigInt(100 * out));
    await clock.until(held.settle({ inputTokens: 0, outputTokens: 60 }, "completed"));
    await clock.pass(2000);
    await turn(15_000);
    await expire();
    expect(await balance()).toBe(0n);
    const proof = await reconcile(storage);
    expect(proof).toMatchObject({ ok: true, spentPicoUsd: String(60 * out), expiredPicoUsd: String(usd - 60 * out) });
    await close();
  });

  test("a core whose clock is a day ahead lapses nothing and keeps nothing back", async () => {
    const { clock, time, log, expire, balance, spends, close } = await open(dialect, dayMs / 2);
    clock.jump(dayMs);
    expect(await expire()).toBe(0);
    expect(await balance()).toBe(BigInt(usd));
    await spends();
    expect(Math.round(time.apart / dayMs)).toBe(1);
    expect(log.join()).toContain("the clocks of this core and its database disagree");
    clock.jump(-dayMs);
    await time.measure();
    expect(log.join()).toContain("the clocks agree again");
    await close();
  });

  test("a jump of all clocks together is believed after an hour, and only then does money lapse", async () => {
    const { clock, turn, time, expire, balance, spends, close } = await open(dialect, dayMs / 2);
    await turn(dayMs);
    clock.jump(dayMs);
    await time.measure();
    await clock.advanceAsync(3_500_000);
    await turn(dayMs + 3_500_000);
    expect(await expire()).toBe(0);
    expect(await balance()).toBe(BigInt(usd));
    await clock.pass(2000); // an hour at a stroke is longer than a core's lease, and its next heartbeat takes its time
    for (let beats = 0; !(await spends().then(yes, no)); beats++) {
      expect(beats).toBeLessThan(20);
      await clock.pass(1000);
    }
    await clock.pass(5000); // what was leased for it goes back
    await clock.advanceAsync(200_000);
    await turn(dayMs + 3_705_000);
    await time.measure();
    await clock.pass(5000);
    await turn(dayMs + 3_710_000);
    expect(await expire()).toBe(1);
    expect(await balance()).toBe(0n);
    await close();
  });
});

test("a database whose clock alone is a day ahead lapses nothing, even by a core that starts then", async () => {
  const { clock, turn, storage, expire, balance, spends, close } = await open("postgresql", dayMs / 2);
  await turn(dayMs);
  expect(await expire()).toBe(0);
  expect(await balance()).toBe(BigInt(usd));
  await spends();
  const alarms: string[] = [];
  const logger: Logger = { debug() {}, info() {}, warn() {}, error: (_, message) => void alarms.push(message) };
  expect(await expire(await DatabaseClock.open(storage, clock, logger))).toBe(0);
  expect(alarms).toEqual(["the clocks of this core and its database disagree"]);
  await close();
});
