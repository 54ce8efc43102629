import { type Command, Option } from "commander";
import { budgetPeriods } from "#lib/limits/budget-period.ts";
import { type LimitKind, type LimitValues, limitEntries, limitPath, writeLimits } from "#lib/limits/key-limits.ts";
import { serviceClasses } from "#lib/limits/service-class.ts";
import { separate } from "#lib/text/separate.ts";
import { count, deadline, orNone, usd, words } from "../../../shared/arguments.ts";

/** Limits named on the command line, by their names in documents. "none": lift the limit. */
export type LimitOptions = Readonly<Record<string, unknown>>;

/** What a limit of each kind is given as. */
const forms: Readonly<Record<LimitKind, (flag: string, help: string) => Option>> = {
  count: (flag, help) => new Option(`${flag} <n>`, help).argParser(orNone(count)),
  usd: (flag, help) => new Option(`${flag} <amount>`, help).argParser(orNone((text) => Number(usd(text)))),
  period: (flag, help) => new Option(`${flag} <period>`, help).choices(budgetPeriods),
  class: (flag, help) => new Option(`${flag} <class>`, help).choices([...serviceClasses, "none"]),
  time: (flag, help) => new Option(`${flag} <time>`, help).argParser(orNone(deadline)),
  models: (flag, help) => new Option(`${flag} <ids>`, help).argParser(ids),
};

/** Every limit but requests a minute, which has a command of its own. */
const options = limitEntries
  .filter(([field]) => field !== "rpm")
  .map(([, { kind, name, help }]) => forms[kind](`--${separate(name, "-")}`, help));

/** The options' names, for people. */
export const limitFlags = options.map(({ long }) => long).join(", ");

export function addLimitOptions(command: Command): Command {
  for (const option of options) {
    command.addOption(option);
  }
  return command;
}

/** The named limits, and their names in an update mask. Throws for a period without a budget. */
export function readLimitOptions(given: LimitOptions) {
  requireBudget(given, given.usd !== "none");
  const named = limitEntries.filter(([, { name }]) => given[name] !== undefined);
  const limits: LimitValues = Object.fromEntries(
    named.map(([field, { name }]) => [field, given[name] === "none" ? null : given[name]]),
  );
  return { limits: writeLimits(limits), paths: named.map(([field]) => limitPath(field)) };
}

/** Throws for a period without a budget: the key would seem limited but is not. */
export function requireBudget({ per }: LimitOptions, hasBudget: boolean): void {
  if (per !== undefined && !hasBudget) {
    throw new Error("--per is the period of a budget, and there is none: name its amount by --usd, too");
  }
}

/**
 * An empty list lifts the limit, as do the words that lift any other limit. Ids of earlier uses of the option are kept.
 */
function ids(text: string, before: readonly string[] | "none" = []): string[] | "none" {
  return ["", "0", "none"].includes(text.trim()) ? "none" : words(text, before === "none" ? [] : before);
}
