import type { Storage } from "#src/storage/storage.ts";
import { budgetRules } from "./budget-rules.ts";
import { originRules } from "./origin-rules.ts";
import { type Rule, rules } from "./reconcile-rules.ts";
import { rollupRules } from "./rollup-rules.ts";
import { sealRules } from "./seal-rules.ts";

/** The rules for a database, in the order in which they are proved. */
export function rulesOf(dialect: Storage["dialect"]): readonly Rule[] {
  return [...rules, ...originRules, ...budgetRules, ...rollupRules, ...sealRules].filter(
    ({ only }) => only === undefined || only === dialect,
  );
}
