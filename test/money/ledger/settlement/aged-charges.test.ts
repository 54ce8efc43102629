import { expect, test } from "@jest/globals";
import { systemRandom } from "#lib/ids/random.ts";
import { AgedCharges } from "#src/money/ledger/settlement/aged-charges.ts";
import { toRest } from "#src/money/ledger/settlement/settler/run-rest.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";

const dayMs = 24 * 3_600_000;
const keptFrom = Date.UTC(2026, 4, 1);
const later = keptFrom + 30 * dayMs;
const before = keptFrom - dayMs;

/** A UUIDv7 of a moment. */
function idOf(time: number): string {
  const hex = time.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}${systemRandom.uuid().slice(13)}`;
}

function chargeOf(accountId: string, runId: string, settledAt: number, status: Charge["status"]): Charge {
  const what = { requestId: "mine", runId, accountId, keyId: "", model: "m", inputTokens: 9, outputTokens: 9 };
  return { ...what, cost: 0, shortfall: 0, status, settledAt, lines: [] };
}

/** Whether a charge is aged that is known by its own run, as after a restart. */
const isAged = (charge: Charge, from = keptFrom) => new AgedCharges(async () => from).isAged({ run: charge, charge });

const account = systemRandom.uuid();

test("tells by the run's own time", async () => {
  expect(await isAged(chargeOf(account, idOf(later), later, "completed"))).toBe(false);
  expect(await isAged(chargeOf(account, idOf(before), later, "completed"))).toBe(true);
  expect(await isAged(chargeOf(account, idOf(later), later, "recovered"))).toBe(false);
  expect(await isAged(chargeOf(account, idOf(before), later, "recovered"))).toBe(true);
  expect(await isAged(chargeOf(account, idOf(before), before, "completed"), 0)).toBe(false);
});

test("never takes the hash in the run of a rest for a time", async () => {
  const stored = { inputTokens: 9, outputTokens: 8, status: "recovered" as const };
  for (let rests = 0; rests < 500; rests++) {
    const rest = (time: number, status: Charge["status"]) =>
      toRest(chargeOf(account, idOf(time), time, status), stored) as Charge;
    // Known by its rest alone, it tells when it was made.
    expect(await isAged(rest(later, "completed"))).toBe(false);
    expect(await isAged(rest(before, "completed"))).toBe(true);
    // Known by the run that it is the rest of, it has the time of that.
    const known = {
      run: chargeOf(account, idOf(later), later, "recovered"),
      charge: rest(later, "recovered"),
    };
    expect(await new AgedCharges(async () => keptFrom).isAged(known)).toBe(false);
  }
});
