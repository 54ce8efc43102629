import type { ReconcileFinding } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { Rule } from "./rules/reconcile-rules.ts";
import { inScope, type Scope, type SlotCondition } from "./scope.ts";

/** A proof stops after this many findings. */
export const mostFindings = 100;

/** Reads from a snapshot of its own, which is closed afterwards: row versions that one keeps make charges slow. */
export async function inSnapshot<T>(
  storage: Pick<Storage, "snapshot">,
  read: (snapshot: Snapshot) => Promise<T>,
): Promise<T> {
  const snapshot = await storage.snapshot("tables");
  try {
    return await read(snapshot);
  } finally {
    await snapshot.close();
  }
}

/** Adds the first rows that break rules. All are proved by one query, for which receipts and lines are read once. */
export async function addBreaches(
  snapshot: Pick<Snapshot, "rows">,
  rules: readonly Rule[],
  { scope, dialect }: { readonly scope: Scope; readonly dialect: Storage["dialect"] },
  findings: ReconcileFinding[],
): Promise<void> {
  const sql = breachesOf(rules, scope, dialect);
  for await (const rows of snapshot.rows(`${sql} order by rule, id limit ${mostFindings - findings.length}`)) {
    for (const { rule, id, expected, found } of rows) {
      const { name, table } = rules[Number(rule)] as Rule;
      findings.push(finding(name, `${table} ${id}`, `expected ${expected}, found ${found}`));
    }
  }
}

/** A query for the rows that break rules, as the place of the rule, id, expected and found. */
export const breachesOf = (rules: readonly Rule[], scope: Scope, dialect: Storage["dialect"]): string =>
  inScope((isInScope) => rules.map((rule, at) => toPart(rule, at, isInScope)).join(" union all "), scope, dialect);

function toPart({ sql }: Rule, at: number, isInScope: SlotCondition): string {
  const columns = ["id", "expected", "found"].map((name) => `cast(${name} as text) as ${name}`).join(", ");
  return `select ${at} as rule, ${columns} from (${typeof sql === "string" ? sql : sql(isInScope)}) rule_${at}`;
}

export function finding(rule: string, row: string, message: string): ReconcileFinding {
  return { $typeName: "tollgate.metering.v1.ReconcileFinding", rule, row, message };
}
