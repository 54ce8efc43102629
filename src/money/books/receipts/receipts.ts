import { type Duration, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type Receipt, type ReceiptHold, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { readRequestTime } from "#lib/ids/request-id.ts";
import { isStorable } from "#lib/text/storable.ts";
import { toDuration } from "#lib/time/duration.ts";
import { Usage, UsageLine } from "#src/storage/entities/metering/usage.ts";
import type { Storage } from "#src/storage/orm.ts";
import { dayMs, findArchive } from "../../store/kept-from.ts";
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
 * another account's request throws RECEIPT_NOT_FOUND, as a request that never existed. Throws RECEIPT_ARCHIVED when the
 * receipts of the id's day have left the books, whether or not the request existed and whoever made it.
 */
export async function readReceipts(storage: Storage, requestId: string, accountId: string | undefined) {
  const em = storage.orm.em.fork();
  const known = isStorable(requestId) && (accountId === undefined || isUuid(accountId));
  const where = { requestId, ...(accountId === undefined ? {} : { accountId }) };
  const runs = known
    ? await em.find(Usage, where, { orderBy: { settledAt: "asc", runId: "asc" }, limit: mostRuns })
    : [];
  if (runs.length === 0) {
    await refuseArchived(storage, requestId);
    throw failure(Reason.RECEIPT_NOT_FOUND, `There is no receipt for the request ${requestId}.`, {
      parameter: "request_id",
    });
  }
  const ids = runs.map(({ runId }) => runId);
  const lines = await em.find(UsageLine, { requestId, runId: { $in: ids } }, { orderBy: { seq: "asc" } });
  const linesByRun = Map.groupBy(lines, ({ runId }) => runId);
  return runs.map((run) => toReceipt(run, linesByRun.get(run.runId) ?? []));
}

/**
 * Throws RECEIPT_ARCHIVED for an id made on a day whose receipts have left the books. Ids chosen by callers name no
 * day.
 */
async function refuseArchived(storage: Storage, requestId: string): Promise<void> {
  const madeAt = readRequestTime(requestId);
  const archive = madeAt === undefined ? null : await findArchive(storage, Math.floor(madeAt / dayMs));
  if (archive !== null) {
    const [day, since] = [archive.day * dayMs, archive.at].map((at) => new Date(at).toISOString().slice(0, 10));
    throw failure(
      Reason.RECEIPT_ARCHIVED,
      `The receipts of ${day} left the books on ${since}; the operator has an archive of them.`,
      {
        parameter: "request_id",
      },
    );
  }
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
