import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  Generation,
  GenerationData,
  GenerationError,
  GetCreditsResponse,
  GetGenerationResponse,
  GetKeyResponse,
  RefusedGeneration,
} from "#gen/tollgate/chat/v1/account_view_pb.js";
import type { ListMonthsResponse } from "#gen/tollgate/chat/v1/month_pb.js";
import type { GetStatementRequest } from "#gen/tollgate/chat/v1/statement_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { type Request, RequestOutcome } from "#gen/tollgate/metering/v1/request_pb.js";
import { type Receipt, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { findReasonText, reasonTexts } from "#lib/errors/reason-texts.ts";
import { toRequestId } from "#lib/ids/request-id.ts";
import { readLimits, showLimits } from "#lib/limits/key-limits.ts";
import { formatUsd } from "#lib/money/money.ts";
import { dayMs } from "#lib/time/days.ts";
import { type Duration, toMilliseconds } from "#lib/time/duration.ts";
import type { CoreClients } from "../../http/core/core-clients.ts";
import type { Exchange } from "../../http/exchange.ts";
import { usdAmount } from "../../http/json/decimal.ts";
import { invalidField } from "../../http/request/error.ts";
import { costOf, readTime } from "./usage.ts";

// A customer's view of its key and its account, in the formats that clients of aggregators read.

/** The key's own label, spending and limits. */
export async function readKey(core: CoreClients, exchange: Exchange): Promise<GetKeyResponse> {
  const status = await core.accounts.getKeyStatus({}, exchange.callOptions);
  const { key, freeOnly, frozen } = status;
  const { rpm, usd, per = "total", expires, models = [], ...limits } = showLimits(readLimits(key?.limits));
  const keyId = key?.id ?? "";
  const used = keyId === "" ? 0n : await spent(core, exchange, { keyId });
  const reset = resets[per];
  return {
    $typeName: "tollgate.chat.v1.GetKeyResponse",
    data: {
      $typeName: "tollgate.chat.v1.KeyInfo",
      label: key === undefined ? "" : key.name || `${key.prefix}…${key.last4}`,
      usage: usdAmount(used),
      limit: key?.limits?.budgetPicoUsd === undefined ? "" : usdAmount(key.limits.budgetPicoUsd),
      limitRemaining: key?.budgetLeftPicoUsd === undefined ? "" : usdAmount(key.budgetLeftPicoUsd),
      ...(reset !== undefined && { limitReset: reset }),
      isFreeTier: freeOnly,
      ...(expires !== undefined && { expiresAt: expires }),
      rateLimit: {
        $typeName: "tollgate.chat.v1.KeyRate",
        requests: status.rateLimit?.limit ?? 0,
        interval: "60s",
      },
      models: [...models],
      frozen,
      ...limits,
    },
  };
}

/** What an aggregator calls the periods that begin anew. */
const resets: Readonly<Record<string, string>> = { day: "daily", week: "weekly", month: "monthly" };

/** The money received and the money spent. */
export async function readCredits(core: CoreClients, exchange: Exchange): Promise<GetCreditsResponse> {
  const status = await core.accounts.getKeyStatus({ withCredited: true }, exchange.callOptions);
  const used = await spent(core, exchange, {});
  return {
    $typeName: "tollgate.chat.v1.GetCreditsResponse",
    data: {
      $typeName: "tollgate.chat.v1.Credits",
      totalCredits: usdAmount(status.creditedPicoUsd ?? 0n),
      totalUsage: usdAmount(used),
      frozen: status.frozen,
    },
  };
}

/**
 * What became of a request: the receipt of its first run, with why it failed, or why it was refused. Throws RECEIPT_NOT_FOUND where neither
 * tells. The receipt is listed first: a call that finds none would be a refused request itself.
 */
export async function readGeneration(
  core: CoreClients,
  exchange: Exchange,
  id: string,
): Promise<GetGenerationResponse> {
  const requestId = toRequestId(id);
  const { callOptions } = exchange;
  const { receipts } = await core.metering.listReceipts({ requestId }, callOptions);
  const first = receipts.at(-1);
  const isOver = first !== undefined && first.status !== ReceiptStatus.FAILED;
  const refused = isOver ? undefined : await findRefused(core, exchange, requestId);
  if (first !== undefined) {
    const error = refused && toError(refused);
    return toResponse({ case: "answered", value: { ...toGeneration(first), ...(error && { error }) } });
  }
  if (refused !== undefined) {
    return toResponse({ case: "refused", value: toRefused(refused) });
  }
  await core.metering.getReceipt({ requestId }, callOptions);
  throw new Error(`the core has found the receipt of ${id} only now`);
}

function toResponse(form: GenerationData["form"]): GetGenerationResponse {
  return {
    $typeName: "tollgate.chat.v1.GetGenerationResponse",
    data: { $typeName: "tollgate.chat.v1.GenerationData", form },
  };
}

/** Why a request was refused or failed. Undefined: neither, or that is not recorded. */
async function findRefused(core: CoreClients, { callOptions }: Exchange, requestId: string) {
  const outcome = RequestOutcome.REFUSED;
  const { requests } = await core.metering.listRequests({ requestId, outcome, pageSize: 1 }, callOptions);
  return requests[0];
}

function toRefused(request: Request): RefusedGeneration {
  const { requestId, model, at } = request;
  return {
    $typeName: "tollgate.chat.v1.RefusedGeneration",
    id: requestId,
    createdAt: at === undefined ? "" : rfc3339(at),
    model,
    error: toError(request),
  };
}

function toError({ reason, httpStatus }: Request): GenerationError {
  const { what, advice } = findReasonText(reason) ?? reasonTexts[Reason.UNSPECIFIED];
  return {
    $typeName: "tollgate.chat.v1.GenerationError",
    reason,
    message: `${what} ${advice}`,
    status: httpStatus,
  };
}

/** A receipt in the form of an aggregator's generation. */
function toGeneration(receipt: Receipt): Generation {
  const cancelled = receipt.status === ReceiptStatus.CANCELLED;
  const finish = cancelled ? "cancelled" : receipt.status === ReceiptStatus.COMPLETED ? receipt.finishReason : "error";
  return {
    $typeName: "tollgate.chat.v1.Generation",
    id: receipt.requestId,
    model: receipt.model,
    createdAt: receipt.settledAt === undefined ? "" : rfc3339(receipt.settledAt),
    totalCost: usdAmount(receipt.costPicoUsd),
    tokensPrompt: receipt.inputTokens,
    tokensCompletion: receipt.outputTokens,
    nativeTokensPrompt: receipt.inputTokens,
    nativeTokensCompletion: receipt.outputTokens,
    nativeTokensReasoning: receipt.reasoningTokens ?? 0n,
    nativeTokensCached: receipt.cachedInputTokens ?? 0n,
    ...(finish !== "" && { finishReason: finish === "content_filter" ? "stop" : finish }),
    ...(receipt.finishReason !== "" && { nativeFinishReason: receipt.finishReason }),
    streamed: receipt.streamed ?? false,
    cancelled,
    ...(receipt.firstToken && { latency: milliseconds(receipt.firstToken) }),
    ...(receipt.duration && { generationTime: milliseconds(receipt.duration) }),
    ...(receipt.archived && { archived: true }),
    ...(Object.keys(receipt.labels).length > 0 && { labels: JSON.stringify(receipt.labels) }),
  };
}

/** What the account paid, used and owed, month by month. Throws RequestError for a text that is no month. */
export async function readMonths(core: CoreClients, exchange: Exchange, month: string): Promise<ListMonthsResponse> {
  if (month !== "" && !/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) {
    throw invalidField("month", "must be a month, such as 2026-10");
  }
  const { accountId, months } = await core.metering.listMonths({ month }, exchange.callOptions);
  return {
    $typeName: "tollgate.chat.v1.ListMonthsResponse",
    data: months.map((one) => ({
      $typeName: "tollgate.chat.v1.MonthStatement",
      month: one.month,
      accountId,
      until: one.until === undefined ? "" : rfc3339(one.until),
      isOver: one.isOver,
      openingUsd: formatUsd(BigInt(one.openingPicoUsd)),
      topupsUsd: formatUsd(BigInt(one.topupsPicoUsd)),
      grantsUsd: formatUsd(BigInt(one.grantsPicoUsd)),
      refundsUsd: formatUsd(BigInt(one.refundsPicoUsd)),
      lapsedUsd: formatUsd(BigInt(one.lapsedPicoUsd)),
      chargedUsd: formatUsd(BigInt(one.chargedPicoUsd)),
      closingUsd: formatUsd(BigInt(one.closingPicoUsd)),
      owedUsd: formatUsd(BigInt(one.owedPicoUsd)),
      models: one.models.map(({ model, requests, inputTokens, outputTokens, costPicoUsd }) => ({
        $typeName: "tollgate.chat.v1.ModelMonth",
        model,
        requests: BigInt(requests),
        inputTokens: BigInt(inputTokens),
        outputTokens: BigInt(outputTokens),
        costUsd: formatUsd(BigInt(costPicoUsd)),
      })),
    })),
  };
}

/** The lines of the account's statement. */
export function readStatement(core: CoreClients, exchange: Exchange, asked: GetStatementRequest) {
  const from = readTime("from", asked.from) ?? new Date(0);
  const to = readTime("to", asked.to) ?? new Date(Math.floor(exchange.runtime.clock.now() / dayMs) * dayMs);
  const request = { from: timestampFromDate(from), to: timestampFromDate(to) };
  return core.metering.streamStatement(request, exchange.callOptions);
}

/** The spending of the account, or of one of its keys. */
async function spent(
  core: CoreClients,
  exchange: Exchange,
  { keyId = "" }: { readonly keyId?: string },
): Promise<bigint> {
  let sum = 0n;
  const request = { keyId, groupBy: [UsageGroup.ACCOUNT], fresh: true };
  for await (const { rows } of core.metering.streamUsage(request, exchange.callOptions)) {
    sum += rows.reduce((total, row) => total + costOf(row), 0n);
  }
  return sum;
}

const milliseconds = (span: Duration) => BigInt(toMilliseconds(span));
const rfc3339 = (time: Timestamp) => timestampDate(time).toISOString();
