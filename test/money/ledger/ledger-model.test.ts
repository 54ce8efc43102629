import { test } from "@jest/globals";
import fc from "fast-check";
import { act } from "./ledger-model/acts.ts";
import { end } from "./ledger-model/end.ts";
import { Life } from "./ledger-model/life.ts";
import { type Step, step } from "./ledger-model/steps.ts";

// Random lives of two accounts on the real ledger beside a ledger of a few lines. Which lots pay a charge is not its business,
// so while prices move, general or an account's own, it knows the most and the least that one may cost: its tokens at the
// dearest price up to its admission, and at the cheapest of all. With one price they are the same. Some requests are of a
// key with a budget: what they cost in all is known to the pico-USD, too, and the rest of it can be spent in the end. A
// statement of each life proves, and tells of each credit what the books have.

async function live(steps: readonly Step[]): Promise<void> {
  const life = await Life.begin();
  for (const step of steps) {
    await act(life, step);
  }
  await end(life);
}

test("random lives end with the balances of a ledger of a few lines", async () => {
  const runs = { numRuns: Number(process.env.TOLLGATE_TEST_RUNS ?? 40), endOnFailure: true };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60, size: "max" }), live), runs);
}, 300_000);
