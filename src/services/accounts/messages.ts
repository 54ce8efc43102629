import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type AccountSchema, LotKind, PaymentKind, type PaymentSchema } from "#gen/tollgate/accounts/v1/account_pb.js";
import type { ApiKeySchema } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import type { RateLimitStatusSchema } from "#gen/tollgate/metering/v1/rate_limit_pb.js";
import { writeLimits } from "#lib/limits/key-limits.ts";
import { toWiredClass } from "#lib/limits/service-class.ts";
import { toInt64 } from "#lib/money/int64.ts";
import type { RateLimitState } from "#lib/rpc/rate-limit.ts";
import { toDuration } from "#lib/time/duration.ts";
import type { BudgetState } from "#src/money/model/ledger.ts";
import type { LotStatement, PaymentStatement, Statement } from "#src/money/model/payments.ts";
import { type Account, isFrozen } from "#src/storage/entities/account.ts";
import type { ApiKey } from "#src/storage/entities/api-key.ts";

/** An account and its money as a message of the contract. `lastUsedAt`: when a key of it was last used. */
export function accountMessage(
  account: Account,
  statement: Statement,
  lastUsedAt?: Date,
): MessageInitShape<typeof AccountSchema> {
  return {
    ...(lastUsedAt && { lastUsedAt: timestampFromDate(lastUsedAt) }),
    id: account.id,
    name: account.name,
    createdAt: timestampFromDate(account.createdAt),
    balancePicoUsd: toInt64(statement.balance),
    heldPicoUsd: toInt64(statement.held),
    debtPicoUsd: toInt64(statement.debt),
    paidTotalPicoUsd: toInt64(statement.paidTotal),
    freeOnly: statement.freeOnly,
    maxKeys: account.maxKeys,
    frozen: isFrozen(account),
    frozenReason: account.frozenReason ?? "",
    ...(account.frozenAt ? { frozenAt: timestampFromDate(account.frozenAt) } : {}),
    ...(account.maxInFlight ? { maxInFlight: account.maxInFlight } : {}),
    ...(account.lowBalance ? { lowBalancePicoUsd: BigInt(account.lowBalance) } : {}),
    serviceClass: toWiredClass(account.serviceClass),
    email: account.email ?? "",
    creditLinePicoUsd: BigInt(account.creditLine),
    creditLeftPicoUsd: toInt64(statement.credit),
    lots: statement.lots.map((lot) => ({
      id: lot.id,
      kind: toLotKind(lot.kind),
      grantedPicoUsd: BigInt(lot.granted),
      remainingPicoUsd: BigInt(lot.remaining),
      priceVersion: lot.priceVersion,
      ownPrices: lot.ownPrices?.number ?? 0,
      discountBasisPoints: lot.ownPrices?.discount ?? 0,
      createdAt: timestampFromDate(lot.createdAt),
      ...(lot.expiresAt ? { expiresAt: timestampFromDate(lot.expiresAt) } : {}),
    })),
  };
}

/** A payment as a message of the contract. A refund is negative. */
export function paymentMessage(accountId: string, payment: PaymentStatement): MessageInitShape<typeof PaymentSchema> {
  const { id, kind, amount, reference, lotId, at } = payment;
  return {
    id,
    accountId,
    reference,
    lotId,
    createdAt: timestampFromDate(at),
    kind: paymentKinds[kind],
    amountPicoUsd: BigInt(kind === "refund" ? -amount : amount),
  };
}

const paymentKinds = {
  free: PaymentKind.GRANT,
  grant: PaymentKind.GRANT,
  paid: PaymentKind.TOP_UP,
  refund: PaymentKind.REFUND,
} as const satisfies Record<PaymentStatement["kind"], PaymentKind>;

/**
 * A key as a message of the contract, without anything that could be used in its place. `budget`: the state of its
 * budget, if known.
 */
export function apiKeyMessage(key: ApiKey, budget?: BudgetState): MessageInitShape<typeof ApiKeySchema> {
  return {
    id: key.id,
    accountId: key.accountId,
    name: key.name,
    prefix: key.prefix,
    last4: key.last4,
    limits: writeLimits(key.limits),
    createdAt: timestampFromDate(key.createdAt),
    ...(key.revokedAt ? { revokedAt: timestampFromDate(key.revokedAt) } : {}),
    ...(key.lastUsedAt ? { lastUsedAt: timestampFromDate(key.lastUsedAt) } : {}),
    manages: key.manages,
    disabled: key.disabled,
    ...(key.updatedAt ? { updatedAt: timestampFromDate(key.updatedAt) } : {}),
    ...(budget && { budgetSpentPicoUsd: budget.spent, budgetLeftPicoUsd: BigInt(budget.left) }),
    ...(budget?.resetsAt !== undefined && { budgetResetsAt: timestampFromMs(budget.resetsAt) }),
  };
}

/** The state of a key's rolling minute as a message of the contract. */
export function rateLimitMessage(state: RateLimitState): MessageInitShape<typeof RateLimitStatusSchema> {
  const { limit, remaining, resetAfterMs } = state;
  return { limit, remaining, ...(resetAfterMs > 0 ? { resetAfter: toDuration(resetAfterMs) } : {}) };
}

function toLotKind(kind: LotStatement["kind"]): LotKind {
  switch (kind) {
    case "free":
      return LotKind.FREE;
    case "grant":
      return LotKind.GRANT;
    case "credit":
      return LotKind.CREDIT;
    case "paid":
      return LotKind.PAID;
  }
}
