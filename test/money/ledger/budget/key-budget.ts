import { v7 } from "uuid";
import { readDetail } from "#lib/errors/detail.ts";
import type { BudgetPeriod } from "#lib/limits/budget-period.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import type { Budget } from "#src/wire/principal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { type Metering, openMetering } from "../../fixture.ts";

/** The price of a token of output, in pico-USD. */
export const out = 250_000;
export const output = (outputTokens: number): ChargedTokens => ({ inputTokens: 0, outputTokens });
export const budgetOf = (limit: number, period: BudgetPeriod = "total"): Budget => ({ id: v7(), limit, period });

/** Why work is refused. */
export const refusalOf = (clock: ManualClock, work: Promise<unknown>) =>
  clock.until(work).then(
    () => undefined,
    (error: unknown) => readDetail(error)?.reason,
  );

/** Metering on a database, with a clock of its own. */
export async function openWithClock(url: string): Promise<{ metering: Metering; clock: ManualClock; url: string }> {
  const clock = new ManualClock(Date.now());
  return { metering: await openMetering({ clock, url }), clock, url };
}
