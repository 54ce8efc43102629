import { hasCompared } from "../cores/machine.ts";
import type { World } from "../world.ts";

/** Judges, at a quiet moment, that what each core has in memory of an account is what its open slices have left. */
export function judgeWallets({ machines, customers, server, history, timeline }: World): void {
  for (const { life, name } of machines) {
    if (life === undefined || !hasCompared(life, timeline.now)) {
      continue;
    }
    for (const { accountId } of customers) {
      const stored = server.tables.get<{ unspent: number }>(
        "select coalesce(sum(granted - spent), 0) as unspent from slice where account_id = ? and core_id = ? and open",
        ...[accountId, life.coreId],
      );
      const unspent = life.money.ledger.unspent(accountId);
      if (unspent !== stored?.unspent) {
        history.violation(
          "wallets",
          `${name} has ${unspent} of account ${accountId}, and ${stored?.unspent} in slices`,
        );
      }
    }
  }
}
