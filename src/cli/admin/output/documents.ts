import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { type Account, LotKind, type Payment, PaymentKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import type { ApiKey } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import type { AuditEvent } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { BreakerState, type Server, ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import { type Price, PriceReason } from "#gen/tollgate/metering/v1/price_pb.js";
import type { Operator } from "#gen/tollgate/operators/v1/operator_pb.js";
import type { Session } from "#gen/tollgate/sessions/v1/session_pb.js";
import type { GetStatusResponse } from "#gen/tollgate/status/v1/status_service_pb.js";
import { limitEntries, readLimits, showLimits } from "#lib/limits/key-limits.ts";
import { formatPercent } from "#lib/money/basis-points.ts";
import { formatRate, formatUsd } from "#lib/money/money.ts";
import { separate } from "#lib/text/separate.ts";
import { showClass } from "../../shared/service-class.ts";

// The contract's messages as the documents that commands print. USD are exact decimal strings, times RFC 3339, and
// absent values null.

export function accountDocument(account: Account) {
  return {
    id: account.id,
    name: account.name,
    email: account.email || null,
    created_at: time(account.createdAt),
    last_used_at: time(account.lastUsedAt),
    balance_usd: formatUsd(account.balancePicoUsd),
    held_usd: formatUsd(account.heldPicoUsd),
    debt_usd: formatUsd(account.debtPicoUsd),
    credit_line_usd: formatUsd(account.creditLinePicoUsd),
    credit_left_usd: formatUsd(account.creditLeftPicoUsd),
    paid_total_usd: formatUsd(account.paidTotalPicoUsd),
    free_only: account.freeOnly,
    max_keys: account.maxKeys,
    in_flight_limit: account.maxInFlight ?? null,
    class: showClass(account.serviceClass),
    low_balance_usd: account.lowBalancePicoUsd === undefined ? null : formatUsd(account.lowBalancePicoUsd),
    frozen: account.frozen,
    frozen_reason: account.frozen ? account.frozenReason : null,
    frozen_at: time(account.frozenAt),
    lots: account.lots.map((lot) => ({
      id: lot.id,
      kind: word(LotKind, lot.kind),
      granted_usd: formatUsd(lot.grantedPicoUsd),
      remaining_usd: formatUsd(lot.remainingPicoUsd),
      price_version: lot.priceVersion,
      own_prices: lot.ownPrices || null,
      discount_percent: lot.ownPrices === 0 ? null : formatPercent(lot.discountBasisPoints),
      created_at: time(lot.createdAt),
      expires_at: time(lot.expiresAt),
    })),
  };
}

export function movementDocument(moved: { accountId: string; lotId: string; balancePicoUsd: bigint }) {
  return { id: moved.accountId, lot_id: moved.lotId, balance_usd: formatUsd(moved.balancePicoUsd) };
}

export function paymentDocument(payment: Payment) {
  return {
    id: payment.id,
    kind: word(PaymentKind, payment.kind),
    usd: formatUsd(payment.amountPicoUsd),
    ref: payment.reference,
    lot_id: payment.lotId,
    at: time(payment.createdAt),
  };
}

export function keyDocument(key: ApiKey) {
  const shown = showLimits(readLimits(key.limits));
  const all = limitEntries.map(([, { name }]) => [separate(name, "_"), shown[name as keyof typeof shown] ?? null]);
  const { rpm, expires, ...limits } = Object.fromEntries(all);
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    last4: key.last4,
    manages: key.manages,
    disabled: key.disabled,
    rpm,
    created_at: time(key.createdAt),
    expires_at: expires,
    revoked_at: time(key.revokedAt),
    last_used_at: time(key.lastUsedAt),
    limits: {
      ...limits,
      usd_spent: key.budgetSpentPicoUsd === undefined ? null : formatUsd(key.budgetSpentPicoUsd),
      usd_left: key.budgetLeftPicoUsd === undefined ? null : formatUsd(key.budgetLeftPicoUsd),
      resets_at: time(key.budgetResetsAt),
    },
  };
}

export function operatorDocument(operator: Operator) {
  return {
    id: operator.id,
    name: operator.name,
    role: word(Role, operator.role),
    created_at: time(operator.createdAt),
    revoked_at: time(operator.revokedAt),
  };
}

export function sessionDocument(session: Session) {
  return {
    id: session.id,
    operator: session.operatorName || null,
    role: session.operatorName === "" ? null : word(Role, session.role),
    account_id: session.accountId || null,
    key_id: session.keyId || null,
    created_at: time(session.createdAt),
    expires_at: time(session.expiresAt),
  };
}

export function auditDocument(event: AuditEvent) {
  return {
    at: time(event.at),
    operator: event.operator,
    key_id: event.keyId || null,
    person_id: event.personId || null,
    account_id: event.accountId || null,
    method: event.method,
    target: event.target,
    before: event.before ?? null,
    after: event.after ?? null,
    address: event.address,
  };
}

export function priceDocument(price: Price) {
  return {
    model: price.model,
    input: formatRate(price.inputPicoUsdPerToken),
    output: formatRate(price.outputPicoUsdPerToken),
    base_input: formatRate(price.baseInputPicoUsdPerToken),
    base_output: formatRate(price.baseOutputPicoUsdPerToken),
    pinned: price.pinned,
    version: price.version,
    since: time(price.since),
    reason: price.reason === PriceReason.UNSPECIFIED ? null : word(PriceReason, price.reason),
    utilisation: price.utilisation ?? null,
  };
}

export function serverDocument(server: Server) {
  return {
    id: server.id,
    url: server.url,
    model: server.model,
    engine: server.engine,
    state: word(ServerState, server.state),
    routing: server.routing,
    in_flight: server.inFlight,
    in_flight_elsewhere: server.inFlightElsewhere,
    running: server.running ?? null,
    queued: server.queued ?? null,
    kv_usage: part(server.kvUsage),
    breaker: word(BreakerState, server.breaker),
    avoided_elsewhere: server.avoidedElsewhere,
    capacity: server.capacity,
    weight: server.weight,
    priorities: server.priorities,
    cache_hit_rate: part(server.cacheHitRate),
    usd_per_hour: server.picoUsdPerHour === undefined ? null : formatUsd(server.picoUsdPerHour),
    last_error: server.lastError === "" ? null : server.lastError,
  };
}

export function statusDocument({ ok, red }: Pick<GetStatusResponse, "ok" | "red">) {
  const troubles = red.map(({ what, model, server, reason, since }) => ({
    what,
    ...(model !== "" && { model }),
    ...(server !== "" && { server }),
    reason,
    since: time(since),
  }));
  return { ok, red: troubles };
}

/** The same for people, in one line for each thing: a server's id has its model. */
export function showStatus({ ok, red }: ReturnType<typeof statusDocument>) {
  const troubles = red.map(({ what, model, server, reason, since }) => ({
    ...{ trouble: what, where: server ?? model ?? null, since, reason },
  }));
  return { ok, red: troubles };
}

/** A part of a whole, rounded to a thousandth. */
function part(value: number | undefined): number | null {
  return value === undefined ? null : Number(value.toFixed(3));
}

export function time(at: Timestamp | undefined): string | null {
  return at ? timestampDate(at).toISOString() : null;
}

export function word(names: Record<number, string>, value: number): string {
  return (names[value] ?? "unknown").toLowerCase();
}
