import type { Addend, ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import type { DeadLetter } from "#gen/tollgate/metering/v1/dead_letter_pb.js";
import type { Margin } from "#gen/tollgate/metering/v1/margin_service_pb.js";
import type { ReceiptArchive } from "#gen/tollgate/metering/v1/receipt_archive_pb.js";
import type { Request } from "#gen/tollgate/metering/v1/request_pb.js";
import { type Receipt, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { findReasonText } from "#lib/errors/reason-texts.ts";
import { formatRate, formatUsd } from "#lib/money/money.ts";
import { toMilliseconds } from "#lib/time/duration.ts";
import { time, word } from "./documents.ts";

// The ledger's messages as the documents that commands print, as in documents.ts.

export function marginDocument({ hour, day, model, revenuePicoUsd, costPicoUsd, marginPicoUsd }: Margin) {
  return {
    ...(hour !== "" && { hour }),
    ...(day !== "" && { day }),
    model,
    revenue_usd: formatUsd(BigInt(revenuePicoUsd)),
    cost_usd: costPicoUsd === undefined ? null : formatUsd(BigInt(costPicoUsd)),
    margin_usd: marginPicoUsd === undefined ? null : formatUsd(BigInt(marginPicoUsd)),
  };
}

/** The margin of a week, whose day is its Monday. */
export function weekDocument({ day, ...margin }: Margin) {
  return { week: day, ...marginDocument({ ...margin, day: "" }) };
}

export function receiptDocument(receipt: Receipt) {
  return {
    request_id: receipt.requestId,
    run_id: receipt.runId,
    account_id: receipt.accountId,
    key_id: receipt.keyId === "" ? null : receipt.keyId,
    model: receipt.model,
    input_tokens: Number(receipt.inputTokens),
    output_tokens: Number(receipt.outputTokens),
    cost_usd: formatUsd(receipt.costPicoUsd),
    shortfall_usd: formatUsd(receipt.shortfallPicoUsd),
    status: word(ReceiptStatus, receipt.status),
    settled_at: time(receipt.settledAt),
    finish_reason: receipt.finishReason === "" ? null : receipt.finishReason,
    streamed: receipt.streamed ?? null,
    first_token_ms: receipt.firstToken === undefined ? null : toMilliseconds(receipt.firstToken),
    duration_ms: receipt.duration === undefined ? null : toMilliseconds(receipt.duration),
    reasoning_tokens: receipt.reasoningTokens === undefined ? null : Number(receipt.reasoningTokens),
    cached_input_tokens: receipt.cachedInputTokens === undefined ? null : Number(receipt.cachedInputTokens),
    server: receipt.server === "" ? null : receipt.server,
    surface: receipt.surface === "" ? null : receipt.surface,
    labels: receipt.labels,
    lines: receipt.lines.map((line) => ({
      lot_id: line.lotId === "" ? null : line.lotId,
      input_tokens: Number(line.inputTokens),
      output_tokens: Number(line.outputTokens),
      input_usd_per_million: formatRate(line.inputPicoUsdPerToken),
      output_usd_per_million: formatRate(line.outputPicoUsdPerToken),
      cost_usd: formatUsd(line.costPicoUsd),
      shared_token_usd: formatUsd(line.sharedTokenPicoUsd),
    })),
    ...(receipt.archived && { archived: true }),
  };
}

/**
 * A single receipt: also what was held for the request, and to how much the hold shrank. Null: unknown, as after a
 * crash.
 */
export function wholeReceiptDocument(receipt: Receipt) {
  const { hold } = receipt;
  return {
    ...receiptDocument(receipt),
    hold:
      hold === undefined
        ? null
        : {
            held_usd: formatUsd(hold.heldPicoUsd),
            shrunk_usd: formatUsd(hold.shrunkPicoUsd),
            input_tokens: Number(hold.inputTokens),
            output_tokens: Number(hold.outputTokens),
            input_usd_per_million: formatRate(hold.inputPicoUsdPerToken),
            output_usd_per_million: formatRate(hold.outputPicoUsdPerToken),
          },
  };
}

/** A request that is over. Null where it was not refused, or came over gRPC. */
export function requestDocument(request: Request) {
  return {
    request_id: request.requestId,
    account_id: request.accountId === "" ? null : request.accountId,
    key_id: request.keyId === "" ? null : request.keyId,
    surface: request.surface,
    model: request.model === "" ? null : request.model,
    reason: request.reason === "" ? null : request.reason,
    http_status: request.httpStatus === 0 ? null : request.httpStatus,
    duration_ms: Number(request.durationMs),
    server: request.server === "" ? null : request.server,
    at: time(request.at),
    left_out: Number(request.leftOut),
  };
}

/** The same with what its reason means and what to do. */
export function requestWithAdvice(request: Request) {
  const { what, advice } = findReasonText(request.reason) ?? { what: null, advice: null };
  return { ...requestDocument(request), what, advice };
}

/** Its counts may not be numbers. null: JSON cannot express the count. */
export function deadLetterDocument(letter: DeadLetter) {
  return {
    id: letter.id,
    request_id: letter.requestId,
    account_id: letter.accountId,
    key_id: letter.keyId === "" ? null : letter.keyId,
    model: letter.model,
    input_tokens: Number.isFinite(letter.inputTokens) ? letter.inputTokens : null,
    output_tokens: Number.isFinite(letter.outputTokens) ? letter.outputTokens : null,
    status: letter.status,
    reason: letter.reason,
    core_id: letter.coreId,
    at: time(letter.at),
  };
}

export function archiveDocument(archive: ReceiptArchive) {
  return {
    day: archive.day,
    receipts: Number(archive.receipts),
    cost_usd: formatUsd(BigInt(archive.costPicoUsd)),
    file: archive.file,
    bytes: Number(archive.bytes),
    sha256: archive.sha256,
    archived_at: time(archive.archivedAt),
  };
}

export function reconcileDocument(proof: ReconcileResponse) {
  const usd = (pico: string) => formatUsd(BigInt(pico || "0"));
  return {
    ok: proof.ok,
    accounts: Number(proof.accounts),
    receipts: Number(proof.receipts),
    granted_usd: usd(proof.grantedPicoUsd),
    balance_usd: usd(proof.balancePicoUsd),
    spent_usd: usd(proof.spentPicoUsd),
    refunded_usd: usd(proof.refundedPicoUsd),
    expired_usd: usd(proof.expiredPicoUsd),
    debt_usd: usd(proof.debtPicoUsd),
    findings: proof.findings.map(({ rule, row, message }) => ({ rule, row, message })),
    ...(proof.asOf && { as_of: time(proof.asOf) }),
  };
}

export function addendDocument({ accountId, accountName, amountPicoUsd }: Addend) {
  return { account_id: accountId, name: accountName, usd: formatUsd(BigInt(amountPicoUsd)) };
}
