import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { movableClock } from "../../../storage/movable-clock.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { databases } from "../../databases.ts";
import { type Metering, never, openMetering, request, usd } from "../../fixture.ts";

// Two cores on one PostgreSQL, whose clock is turned under them.

const dayMs = 86_400_000;
const out = 250_000;
const newDatabase = databases();

let clock: ManualClock;
let url: string;
let turn: (ms: number) => Promise<void>;
let cores: [Metering, Metering];
beforeEach(async () => {
  clock = new ManualClock(Date.now());
  url = await newDatabase("postgresql");
  turn = await movableClock(url);
  cores = [await openMetering({ clock, url }), await openMetering({ clock, url })];
});
afterEach(async () => {
  for (const core of cores) {
    await clock.until(core.close());
  }
});

const tokens = { inputTokens: 0, outputTokens: 1000 };

test.each([
  ["forward", dayMs],
  ["back", -dayMs],
])("a jump %s of the database's clock takes no slice from a living core", async (_, ms) => {
  const [first, second] = cores;
  const account = await first.account({ paid: usd });
  const hold = await first.ledger.hold(request(account, tokens), never);
  await turn(ms);
  await clock.pass(60_000);
  await clock.until(hold.settle(tokens, "completed"));
  expect([...first.log, ...second.log].join()).not.toMatch(/dead cores|slices were lost/);
  expect(await first.funds.statement(account)).toMatchObject({ balance: BigInt(usd - 1000 * out), debt: 0n });
  expect(await reconcile(first.storage)).toMatchObject({ ok: true });
});

test("a jump back of the database's clock keeps no dead core alive", async () => {
  const [first, second] = cores;
  const silent = new ManualClock(Date.now()); // nothing that this core does by time happens
  const dead = await openMetering({ clock: silent, url });
  const account = await dead.account({ paid: usd });
  await dead.ledger.hold(request(account, tokens), never);
  await turn(-dayMs);
  await clock.pass(29_000);
  expect([...first.log, ...second.log].join()).not.toContain("dead cores");
  await clock.pass(11_000);
  expect([...first.log, ...second.log].join()).toContain("gave back what dead cores had leased");
  await silent.until(dead.close());
});
