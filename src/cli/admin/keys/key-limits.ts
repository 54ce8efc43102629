import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type Command, Option } from "commander";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import type { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { count, deadline, orNone, usd, words } from "../../shared/arguments.ts";
import { classOption, readClass } from "../../shared/service-class.ts";

const periods: Record<string, BudgetPeriod> = {
  day: BudgetPeriod.DAY,
  week: BudgetPeriod.WEEK,
  month: BudgetPeriod.MONTH,
  total: BudgetPeriod.TOTAL,
};

/** Throws for a period without a budget: the key would seem limited but is not. */
export function requireBudget({ per }: Pick<LimitOptions, "per">, hasBudget: boolean): void {
  if (per !== undefined && !hasBudget) {
    throw new Error("--per is the period of a budget, and there is none: name its amount by --usd, too");
  }
}

/** Limits named on the command line. "none": lift the limit. */
export interface LimitOptions {
  readonly usd?: bigint | "none";
  readonly per?: string;
  readonly models?: readonly string[];
  readonly expires?: Date | "none";
  readonly tpm?: number | "none";
  readonly inFlight?: number | "none";
  readonly class?: string;
}

/** Limits in the contract's form. Absent: no limit. */
interface Limits {
  budgetPicoUsd?: bigint;
  budgetPeriod?: BudgetPeriod;
  models?: string[];
  expiresAt?: Timestamp;
  tokensPerMinute?: number;
  maxInFlight?: number;
  serviceClass?: ServiceClass;
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
    .option("--in-flight <n>", "requests that it may run at once; none lifts it", orNone(count))
    .addOption(classOption("none: its account's"));
}

/** The named limits, and their names in the contract. Throws for a period without a budget. */
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
  readShares(options, limits, paths);
  return { limits, paths };
}

/** Reads a key's share of the resources that all keys use. */
function readShares({ tpm, inFlight, class: named }: LimitOptions, limits: Limits, paths: string[]): void {
  if (tpm !== undefined) {
    paths.push("tokens_per_minute");
    if (tpm !== "none") {
      limits.tokensPerMinute = tpm;
    }
  }
  if (inFlight !== undefined) {
    paths.push("max_in_flight");
    if (inFlight !== "none") {
      limits.maxInFlight = inFlight;
    }
  }
  if (named !== undefined) {
    paths.push("service_class");
    limits.serviceClass = readClass(named);
  }
}

/**
 * An empty list lifts the limit, as do the words that lift any other limit. Ids of earlier uses of the option are kept.
 */
function ids(text: string, before: readonly string[] = []): string[] {
  return ["", "0", "none"].includes(text.trim()) ? [] : words(text, before);
}
