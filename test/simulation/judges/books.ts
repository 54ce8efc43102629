import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { budgetRules } from "#src/money/books/proof/rules/budget-rules.ts";
import { everything, inScope } from "#src/money/books/proof/scope.ts";
import { judgesStorage } from "../database/storage.ts";
import type { World } from "../world.ts";

/** Milliseconds by which clocks may differ and still be trusted. */
const mostApartMs = 125_000;

/** The rules for what budgets must have counted, for SQLite. */
const countingRules = budgetRules.filter(({ only }) => only === "sqlite");

/** Judges that the books add up, whatever has happened, believing seals, where there are any, and reading everything. */
export async function judgeBooks({ server, history }: World): Promise<void> {
  const hasSeals = server.tables.get("select 1 from day_seal") !== undefined;
  for (const all of hasSeals ? [false, true] : [true]) {
    const proof = await reconcile(judgesStorage(server), undefined, { all }).catch((error: Error) => error);
    if (proof instanceof Error) {
      history.violation("books", `the books cannot be proved: ${proof.message}`);
      return;
    }
    const { findings } = proof;
    if (findings.length === 0) {
      continue;
    }
    const told = findings.slice(0, 5).map(({ rule, row, message }) => `${rule}: ${row}: ${message}`);
    history.violation("books", `the books do not add up: ${told.join("; ")}`);
  }
  for (const { name, sql } of countingRules) {
    const [found] = server.tables.all<object>(inScope(sql, everything, "sqlite"));
    if (found !== undefined) {
      history.violation("counted budgets", `${name}: ${JSON.stringify(found)}`);
    }
  }
}

/** Judges that nothing is leased once all cores have ended and dead cores were cleared away. */
export function judgeLeases({ server, history }: World): void {
  const { tables } = server;
  for (const table of ["slice", "budget_slice"]) {
    const slices = tables.all<object>(
      `select ${table}.id, core_id, ${table}.epoch, granted, spent, beats, dead_beat, instance from ${table}
       left join core on core.id = core_id and core.epoch = ${table}.epoch where open`,
    );
    if (slices.length > 0) {
      history.violation("leases", `${slices.length} leases never ended: ${table} ${JSON.stringify(slices[0])}`);
    }
  }
  const owing = tables.all<{ id: string; free: number }>(
    `select account.id, sum(granted - spent - leased - refunded - expired) as free from account
     join lot on lot.account_id = account.id and (expires_at is null or expires_at > ?)
     where debt > 0 group by account.id having free > 0`,
    server.now() + 60_000,
  );
  for (const { id, free } of owing) {
    history.violation("debts", `account ${id} owes something beside ${free} of free money`);
  }
}

/** Judges that no money expires early, whatever clocks say: by the world's own time, less the clocks' difference. */
export function judgeExpiry({ server, history, trueTime }: World): void {
  const early = server.tables.all<{ id: string; expires_at: number }>(
    `select id, expires_at from lot where expired > 0 and expires_at > ?`,
    trueTime + mostApartMs,
  );
  for (const { id, expires_at } of early) {
    history.violation("expiry", `lot ${id} lapsed ${Math.round((expires_at - trueTime) / 1000)} s before its time`);
  }
}
