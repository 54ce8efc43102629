import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { formatUsd } from "#lib/money/money.ts";

/** The body of an event about a proof: the proved sums, and the first finding. */
export function describeProof(proof: ReconcileResponse) {
  const { accounts, receipts, findings } = proof;
  return {
    accounts: String(accounts),
    receipts: String(receipts),
    findings: findings.length,
    finding: findings[0]?.message ?? "",
    granted: toUsd(proof.grantedPicoUsd),
    balance: toUsd(proof.balancePicoUsd),
    spent: toUsd(proof.spentPicoUsd),
    refunded: toUsd(proof.refundedPicoUsd),
    expired: toUsd(proof.expiredPicoUsd),
    debt: toUsd(proof.debtPicoUsd),
  };
}

function toUsd(pico: string): string {
  return formatUsd(BigInt(pico || "0"));
}
