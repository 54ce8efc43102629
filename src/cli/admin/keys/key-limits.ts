import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Command, Option } from "commander";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { count, deadline, orNone, usd, words } from "../../shared/arguments.ts";

const periods: Record<string, BudgetPeriod> = {
  day: BudgetPeriod.DAY,
  week: BudgetPeriod.WEEK,
  month: BudgetPeriod.MONTH,
  total: BudgetPeriod.TOTAL,
};

/** Throws where there is a period and no budget: nobody is to take a key for limited that is not. */
export function requireBudget({ per }: Pick<LimitOptions, "per">, hasBudget: boolean): void {
  if (per !== undefined && !hasBudget) {
    throw new Error("--per is the period of a budget, and there is none: name its amount by --usd, too");
  }
}

/** Limits as they were named on the command line. "none": to be lifted. */
export interface LimitOptions {
  readonly usd?: bigint | "none";
  readonly per?: string;
  readonly models?: readonly string[];
  readonly expires?: Date | "none";
  readonly tpm?: number | "none";
  readonly inFlight?: number | "none";
}

/** Limits as the contract has them. Absent: no limit. */
interface Limits {
  budgetPicoUsd?: bigint;
  budgetPeriod?: BudgetPeriod;
  models?: string[];
  expiresAt?: Timestamp;
  tokensPerMinute?: number;
  maxInFlight?: number;
}

export function addLimitOptions(command: Command): Command {
  return command
    .option("--usd <amount>", "what it may spend in a period, in exact decimal USD; none lifts it", orNone(usd))
    .addOption(
      new Option("--per <period>", "how often the budget begins anew, in UTC; total unless set: never").choices(
        Object.keys(periods),
      ),
    )
    .option("--models <ids>", 'the only models that it may use, with commas between; "" lifts it', ids)
    .option(
      "--expires <time>",
      "when it stops working, such as 30d or 2026-01-31T12:00:00Z; none: never",
      orNone(deadline),
    )
    .option("--tpm <n>", "tokens in any 60 seconds; none lifts it", orNone(count))
    .option("--in-flight <n>", "requests that it may run at once; none lifts it", orNone(count));
}

/** The limits that were named, and their names in the contract. Throws for a period of what is no budget. */
export function readLimitOptions(options: LimitOptions): { readonly limits: Limits; readonly paths: string[] } {
  requireBudget(options, options.usd !== "none");
  const limits: Limits = {};
  const paths: string[] = [];
  if (options.usd !== undefined) {
    paths.push("budget_pico_usd");
    if (options.usd !== "none") {
      limits.budgetPicoUsd = options.usd;
    }
  }
  if (options.per !== undefined) {
    paths.push("budget_period");
    limits.budgetPeriod = periods[options.per] ?? BudgetPeriod.UNSPECIFIED;
  }
  if (options.models !== undefined) {
    paths.push("models");
    limits.models = [...options.models];
  }
  if (options.expires !== undefined) {
    paths.push("expires_at");
    if (options.expires !== "none") {
      limits.expiresAt = timestampFromDate(options.expires);
    }
  }
  if (options.tpm !== undefined) {
    paths.push("tokens_per_minute");
    if (options.tpm !== "none") {
      limits.tokensPerMinute = options.tpm;
    }
  }
  if (options.inFlight !== undefined) {
    paths.push("max_in_flight");
    if (options.inFlight !== "none") {
      limits.maxInFlight = options.inFlight;
    }
  }
  return { limits, paths };
}

/** No id at all lifts the limit; so do the words that lift any other. */
function ids(text: string): string[] {
  return ["", "0", "none"].includes(text.trim()) ? [] : words(text);
}
