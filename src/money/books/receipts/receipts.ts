import { type Duration, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type Receipt, type ReceiptHold, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { isStorable } from "#lib/text/storable.ts";
import { toDuration } from "#lib/time/duration.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { parseLabels } from "../../model/charges/labels.ts";
import type { ArchivedReceipts } from "./archived-receipts.ts";
import { receiptLines, shortfallLine } from "./receipt-lines.ts";

/** Most receipts of one request id in an answer: the first run's and those of 100 further runs. */
const mostRuns = 101;

const statuses = {
  completed: ReceiptStatus.COMPLETED,
  cancelled: ReceiptStatus.CANCELLED,
  failed: ReceiptStatus.FAILED,
  recovered: ReceiptStatus.RECOVERED,
} as const satisfies Record<Usage["status"], ReceiptStatus>;

/**
 * The receipts of a request's runs, oldest first; at least one. Given an account, only its own receipts are seen:
 * another account's request throws RECEIPT_NOT_FOUND, as a request that never existed. What has left the books is read
 * from the archives.
 */
export async function readReceipts(
  storage: Storage,
  requestId: string,
  accountId: string | undefined,
  archives: Pick<ArchivedReceipts, "find">,
): Promise<Receipt[]> {
  if (isStorable(requestId) && (accountId === undefined || isUuid(accountId))) {
    const stored = await readStored(storage, requestId, accountId);
    if (stored.length > 0) {
      return stored;
    }
    const archived = await archives.find(requestId, accountId);
    const own = archived.filter((receipt) => accountId === undefined || receipt.accountId === accountId);
    if (own.length > 0) {
      return own.slice(0, mostRuns);
    }
  }
  throw failure(Reason.RECEIPT_NOT_FOUND, `There is no receipt for the request ${requestId}.`, {
    parameter: "request_id",
  });
}

async function readStored(storage: Storage, requestId: string, accountId: string | undefined): Promise<Receipt[]> {
  const em = storage.orm.em.fork();
  const where = { requestId, ...(accountId === undefined ? {} : { accountId }) };
  const runs = await em.find(Usage, where, { orderBy: { settledAt: "asc", runId: "asc" }, limit: mostRuns });
  const ids = runs.map(({ runId }) => runId);
  const lines =
    ids.length === 0 ? [] : await em.find(UsageLine, { requestId, runId: { $in: ids } }, { orderBy: { seq: "asc" } });
  const linesByRun = Map.groupBy(lines, ({ runId }) => runId);
  return runs.map((run) => toReceipt(run, linesByRun.get(run.runId) ?? []));
}

const span = (ms: number): Duration => ({ $typeName: "google.protobuf.Duration", ...toDuration(ms) });

/** A receipt as a message of the contract. */
export function toReceipt(usage: Usage, lines: readonly UsageLine[]): Receipt {
  return {
    $typeName: "tollgate.metering.v1.Receipt",
    requestId: usage.requestId,
    runId: usage.runId,
    accountId: usage.accountId,
    keyId: usage.keyId,
    model: usage.model,
    inputTokens: BigInt(usage.inputTokens),
    outputTokens: BigInt(usage.outputTokens),
    costPicoUsd: BigInt(usage.cost),
    status: statuses[usage.status],
    lines: receiptLines([...lines, ...shortfallLine(usage, lines)], usage),
    shortfallPicoUsd: BigInt(usage.shortfall),
    settledAt: timestampFromDate(usage.settledAt),
    finishReason: usage.finish ?? "",
    ...(usage.delivery && { streamed: usage.delivery === "streamed" }),
    ...(usage.firstTokenMs != null && { firstToken: span(usage.firstTokenMs) }),
    ...(usage.durationMs != null && { duration: span(usage.durationMs) }),
    ...(usage.reasoningTokens != null && { reasoningTokens: BigInt(usage.reasoningTokens) }),
    ...(usage.cachedInputTokens != null && { cachedInputTokens: BigInt(usage.cachedInputTokens) }),
    server: usage.server ?? "",
    surface: usage.surface ?? "",
    ...toHold(usage),
    archived: false,
    labels: parseLabels(usage.labels),
  };
}

/** Empty when the terms of the admission are unknown. */
function toHold(usage: Usage): { hold?: ReceiptHold } {
  const { admittedInputTokens, admittedOutputTokens, maxInputRate, maxOutputRate } = usage;
  if (admittedInputTokens == null || admittedOutputTokens == null || maxInputRate == null || maxOutputRate == null) {
    return {};
  }
  const [input, output] = [BigInt(admittedInputTokens), BigInt(admittedOutputTokens)];
  const [inputRate, outputRate] = [BigInt(maxInputRate), BigInt(maxOutputRate)];
  const counted = BigInt(Math.min(usage.inputTokens || admittedInputTokens, admittedInputTokens));
  return {
    hold: {
      $typeName: "tollgate.metering.v1.ReceiptHold",
      inputTokens: input,
      outputTokens: output,
      inputPicoUsdPerToken: inputRate,
      outputPicoUsdPerToken: outputRate,
      heldPicoUsd: input * inputRate + output * outputRate,
      shrunkPicoUsd: counted * inputRate + output * outputRate,
    },
  };
}
