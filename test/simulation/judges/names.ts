/** The rules by which a world is judged. Each violation begins with a rule's name. */
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

/** The rules for worlds of regions. */
export type RegionJudge =
  | ("slices" | "statements" | "reports" | "receipts" | "journal" | "answers" | "stranded money" | "terms at the end")
  | ("terms" | "revocations" | "requests a minute" | "spending");
