/** The rules that a world is judged by: each violation begins with the name of one. */
export const judges = [
  "books",
  "proofs",
  "archives",
  "counted budgets",
  "leases",
  "debts",
  "expiry",
  "overcharges",
  "prices",
  "lost charges",
  "strange receipts",
  "holds",
  "answers",
  "deeds",
  "spending",
  "admissions",
  "budgets",
  "requests a minute",
  "tokens a minute",
  "wrong refusals",
  "reasons",
  "integrity",
  "starts",
  "ends",
] as const;
export type Judge = (typeof judges)[number];

/** The same of worlds of regions. */
export type RegionJudge =
  | ("slices" | "statements" | "reports" | "receipts" | "journal" | "answers" | "stranded money" | "terms at the end")
  | ("terms" | "revocations" | "requests a minute" | "spending");
