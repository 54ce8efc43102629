import type { ReconcileFinding, ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { Storage } from "../../storage/orm.ts";
import type { Row, Snapshot } from "../../storage/snapshot.ts";
import type { CoreLedger } from "../ledger/ledger.ts";
import { accountSums, rules } from "./reconcile-rules.ts";

const unknownSlice = "an open slice is known to the core that leased it";

/** Findings after which there is no use in looking on. */
const mostFindings = 100;

/**
 * Proves in one snapshot, so that running requests cannot disturb it, that every account's money and
 * all money together adds up: top-ups + grants = balance + spend + refunds + expired - debt; and that
 * every row says the same as the rows it sums up. Names the first rows that do not. With the ledger of the running core
 * also that this core knows all the money that is leased to it, as of the moment, not of the snapshot.
 */
export async function reconcile(
  storage: Storage,
  ledger?: Pick<CoreLedger, "unknownSlices">,
): Promise<ReconcileResponse> {
  const unknown = (await ledger?.unknownSlices()) ?? [];
  const snapshot = await storage.snapshot();
  try {
    const findings = unknown
      .slice(0, mostFindings)
      .map(({ id, unspent }) => finding(unknownSlice, `slice ${id}`, `expected closed, found ${unspent} unspent`));
    const totals = await addAccounts(snapshot, findings);
    for (const rule of rules) {
      if (rule.only !== undefined && rule.only !== storage.dialect) {
        continue;
      }
      if (findings.length >= mostFindings) {
        break;
      }
      for await (const rows of snapshot.rows(`${rule.sql} order by 1 limit ${mostFindings - findings.length}`)) {
        for (const row of rows) {
          findings.push(finding(rule.name, `${rule.table} ${row.id}`, `expected ${row.expected}, found ${row.found}`));
        }
      }
    }
    return {
      $typeName: "tollgate.metering.v1.ReconcileResponse",
      ok: findings.length === 0,
      accounts: totals.accounts,
      receipts: totals.receipts,
      grantedPicoUsd: String(totals.granted),
      balancePicoUsd: String(totals.balance),
      spentPicoUsd: String(totals.spent),
      refundedPicoUsd: String(totals.refunded),
      expiredPicoUsd: String(totals.expired),
      debtPicoUsd: String(totals.debt),
      findings,
    };
  } finally {
    await snapshot.close();
  }
}

/** Checks the invariant for every account, and sums the accounts up exactly: their total may pass 64 bits. */
async function addAccounts(snapshot: Snapshot, findings: ReconcileFinding[]) {
  const totals = {
    accounts: 0n,
    receipts: 0n,
    granted: 0n,
    balance: 0n,
    spent: 0n,
    refunded: 0n,
    expired: 0n,
    debt: 0n,
  };
  for await (const rows of snapshot.rows(accountSums)) {
    for (const row of rows) {
      const of = (name: string) => integer(row, name);
      totals.accounts++;
      totals.receipts += of("receipts");
      totals.granted += of("granted");
      totals.balance += of("balance");
      totals.spent += of("spent");
      totals.refunded += of("refunded");
      totals.expired += of("expired");
      totals.debt += of("debt");
      const accounted = of("balance") + of("spent") + of("refunded") + of("expired") - of("debt");
      if (of("granted") !== accounted && findings.length < mostFindings) {
        findings.push(
          finding(
            "top-ups + grants = balance + spend + refunds + expired - debt",
            `account ${row.id}`,
            `expected ${of("granted")}, found ${accounted}`,
          ),
        );
      }
    }
  }
  return totals;
}

function integer(row: Row, name: string): bigint {
  return BigInt(String(row[name]));
}

function finding(rule: string, row: string, message: string): ReconcileFinding {
  return { $typeName: "tollgate.metering.v1.ReconcileFinding", rule, row, message };
}
