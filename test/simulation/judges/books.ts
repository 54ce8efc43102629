import { reconcile } from "../../../src/metering/books/proof/reconcile.ts";
import { judgesStorage } from "../database/storage.ts";
import type { World } from "../world.ts";

/** The books add up, whatever has happened. */
export async function judgeBooks({ server, history }: World): Promise<void> {
  const { ok, findings } = await reconcile(judgesStorage(server));
  if (!ok) {
    const told = findings.slice(0, 5).map(({ rule, row, message }) => `${rule}: ${row}: ${message}`);
    history.violation(`the books do not add up: ${told.join("; ")}`);
  }
}

/** Nothing is leased any more, once all cores have ended and the dead were cleared away. */
export function judgeLeases({ server, history }: World): void {
  const { tables } = server;
  const slices = tables.all<{ id: string }>("select id from slice where open");
  const budgets = tables.all<{ id: string }>("select id from budget_slice where open");
  if (slices.length + budgets.length > 0) {
    history.violation(`${slices.length} leases of lots and ${budgets.length} of budgets never ended`);
  }
  const owing = tables.all<{ id: string; free: number }>(
    `select account.id, sum(granted - spent - leased - refunded - expired) as free from account
     join lot on lot.account_id = account.id and (expires_at is null or expires_at > ?)
     where debt > 0 group by account.id having free > 0`,
    server.now() + 60_000,
  );
  for (const { id, free } of owing) {
    history.violation(`account ${id} owes something beside ${free} of free money`);
  }
}
