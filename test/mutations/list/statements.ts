import { within } from "../mutation.ts";

/** What a statement says that each credit has, and how that is checked: no world forges one. */
export const statementMutations = within(
  { source: "src/money/books/bill", tests: "test/money/books/bill", worlds: [] },
  [
    {
      name: "a credit of a statement may give more than came in",
      file: "check/check-lots.ts",
      find: "must(lot.balance > 0n || !lot.hasCome,",
      replace: "must(lot.balance !== 0n || !lot.hasCome,",
      breaks: "no credit gives more than came in",
      tests: ["check/check-statement"],
    },
    {
      name: "credits of a statement need not add up to its opening balance",
      file: "check/check-lots.ts",
      find: 'mustMake("balance", this.#opened, this.#opening);',
      replace: 'mustMake("balance", this.#opening, this.#opening);',
      breaks: "All credits and all that is owed add up to the `balance`, at the opening and at the closing.",
      tests: ["check/check-statement"],
    },
    {
      name: "a closing balance may leave credits out",
      file: "check/check-lots.ts",
      find: "    for (const [lotId, { balance }] of this.#lots) {\n      throw",
      replace: "    for (const [lotId, { balance }] of [...this.#lots].slice(0, 0)) {\n      throw",
      breaks: "All credits and all that is owed add up to the `balance`, at the opening and at the closing.",
      tests: ["check/check-statement"],
    },
    {
      name: "a charge of a statement may be above the rates that its credit locked in",
      file: "check/check-lots.ts",
      find: "inputRate <= rates.input && outputRate <= rates.output",
      replace: "inputRate >= 0 && outputRate <= rates.output",
      breaks: "charges a credit above the rates that it locked in",
      tests: ["check/check-statement"],
    },
    {
      name: "what a credit line paid of a debt is missing at the opening of a statement",
      file: "lot-balances.ts",
      find: "lot_entry.kind in ('debt', 'repaid'))\n  group by lot.id",
      replace: "lot_entry.kind = 'repaid')\n  group by lot.id",
      breaks: "A `repayment` goes from a credit or a line to the empty `lot`, and from there to a line.",
      tests: ["lot-balances"],
      worlds: ["termsNight", "terms"],
    },
    {
      name: "archived days cost no credit of a statement anything",
      file: "lot-balances.ts",
      find: "(select id from day_seal where number = ?)",
      replace: "(select id from day_seal where number = ? + 1000)",
      breaks: "The opening of a statement is the closing of the one before, credit by credit",
      tests: ["lot-balances"],
      worlds: ["night", "leaving"],
    },
  ],
);
