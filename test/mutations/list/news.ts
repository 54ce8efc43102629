import { within } from "../mutation.ts";

const once = "Each crossing is told once.";
const nothingLost = "an event is noted in the transaction that stores its charge, and stays until a 2xx";

/** What is told of charges, balances and budgets. */
export const newsMutations = within({ source: "src", tests: "test", worlds: ["news"] }, [
  {
    name: "a balance is told as low at every look",
    file: "money/thresholds/balance-events.ts",
    find: "      account.balanceTold = level;",
    replace: "      account.balanceTold = told;",
    breaks: once,
    tests: ["money/thresholds/spending-watch"],
  },
  {
    name: "the first of the accounts that fell is told nothing",
    file: "money/thresholds/spending-watch.ts",
    find: "of await balances.findFallen(storage.orm.em.fork(), accountIds)) {",
    replace: "of (await balances.findFallen(storage.orm.em.fork(), accountIds)).slice(1)) {",
    breaks: once,
    tests: ["money/thresholds/spending-watch"],
  },
  {
    name: "the first part of a budget is told once more with the second",
    file: "money/thresholds/budget-events.ts",
    find: "percent > announcedPercent && percent <= part",
    replace: "percent <= part",
    breaks: once,
    tests: ["money/thresholds/spending-watch"],
  },
  {
    name: "the crossing of an earlier limit counts as that of the new one",
    file: "money/thresholds/budget-events.ts",
    find: "if (current === null || !isSameLimit(current, key)) {",
    replace: "if (current === null) {",
    breaks: "or while the crossing of an earlier one is being told, is told with the key's next charge",
    tests: ["money/thresholds/spending-watch"],
    worlds: [],
  },
  {
    name: "usage events that nobody took are forgotten",
    file: "delivery/usage/usage-sender.ts",
    find: "if (await this.#sendBatch(receipts.map((usage) => toCloudEvent(usage, this.#parts.source)))) {",
    replace:
      "if ((await this.#sendBatch(receipts.map((usage) => toCloudEvent(usage, this.#parts.source)))) || receipts.length > 0) {",
    breaks: nothingLost,
    tests: ["delivery/usage/usage-sender"],
  },
  {
    name: "on SQLite, a charge that comes alone has no usage event",
    file: "money/store/sqlite/charge-writer.ts",
    find: "      if (this.#usageEvents) {",
    replace: "      if (this.#usageEvents && lasting.length > 1) {",
    breaks: nothingLost,
    tests: ["delivery/usage/usage-sender"],
    worlds: ["sqliteNews"],
  },
  {
    name: "a core that began beside a wrong clock keeps the work of all for an hour",
    file: "storage/work-lease.ts",
    find: "now - seen.at < leaseMs ?",
    replace: "now > 0 ?",
    breaks: "another takes over after 15 s without a sign of life",
    tests: ["storage/work-lease"],
    worlds: ["clocks"],
  },
]);
