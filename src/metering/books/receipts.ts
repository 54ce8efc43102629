import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type Receipt, type ReceiptLine, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { Usage, UsageLine } from "../../storage/entities/usage.ts";
import type { Storage } from "../../storage/orm.ts";

const statuses = {
  completed: ReceiptStatus.COMPLETED,
  cancelled: ReceiptStatus.CANCELLED,
  failed: ReceiptStatus.FAILED,
  recovered: ReceiptStatus.RECOVERED,
} as const satisfies Record<Usage["status"], ReceiptStatus>;

/** What a request cost. Throws RECEIPT_NOT_FOUND, also for another account's when only one's may be seen. */
export async function readReceipt(storage: Storage, requestId: string, onlyOf: string | undefined): Promise<Receipt> {
  const em = storage.orm.em.fork();
  const usage = await em.findOne(Usage, requestId);
  if (usage === null || (onlyOf !== undefined && usage.accountId !== onlyOf))
    throw failure(Reason.RECEIPT_NOT_FOUND, `There is no receipt for the request ${requestId}.`, {
      parameter: "request_id",
    });
  const lines = await em.find(UsageLine, { requestId }, { orderBy: { seq: "asc" } });
  return {
    $typeName: "tollgate.metering.v1.Receipt",
    requestId,
    accountId: usage.accountId,
    keyId: usage.keyId,
    model: usage.model,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    costPicoUsd: BigInt(usage.cost),
    status: statuses[usage.status],
    lines: byLot(lines),
    shortfallPicoUsd: BigInt(usage.shortfall),
    settledAt: timestampFromDate(usage.settledAt),
  };
}

/** One line a lot: through how many slices the lot paid is nobody's business outside. */
function byLot(lines: readonly UsageLine[]): ReceiptLine[] {
  const lots = new Map<string, ReceiptLine>();
  for (const { lotId, inputTokens, outputTokens, inputRate, outputRate, cost } of lines) {
    const line = lots.get(lotId);
    if (line === undefined) {
      lots.set(lotId, {
        $typeName: "tollgate.metering.v1.ReceiptLine",
        lotId,
        inputTokens,
        outputTokens,
        inputPicoUsdPerToken: BigInt(inputRate),
        outputPicoUsdPerToken: BigInt(outputRate),
        costPicoUsd: BigInt(cost),
      });
    } else {
      line.inputTokens += inputTokens;
      line.outputTokens += outputTokens;
      line.costPicoUsd += BigInt(cost);
    }
  }
  return [...lots.values()];
}
