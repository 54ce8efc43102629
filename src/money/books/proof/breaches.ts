import type { ReconcileFinding } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { Snapshot } from "#src/storage/reads/snapshot.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { Rule } from "./reconcile-rules.ts";
import { inScope, type Scope } from "./scope.ts";

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

/** Adds the first rows that break a rule. */
export async function addBreaches(
  snapshot: Pick<Snapshot, "rows">,
  rule: Rule,
  { scope, dialect }: { readonly scope: Scope; readonly dialect: Storage["dialect"] },
  findings: ReconcileFinding[],
): Promise<void> {
  const sql = `${inScope(rule.sql, scope, dialect)} order by 1 limit ${mostFindings - findings.length}`;
  for await (const rows of snapshot.rows(sql)) {
    for (const row of rows) {
      findings.push(finding(rule.name, `${rule.table} ${row.id}`, `expected ${row.expected}, found ${row.found}`));
    }
  }
}

export function finding(rule: string, row: string, message: string): ReconcileFinding {
  return { $typeName: "tollgate.metering.v1.ReconcileFinding", rule, row, message };
}
