import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { DeadLetter, DeadLettersService } from "#gen/tollgate/metering/v1/dead_letters_service_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import type { Logger } from "../../../lib/logger.ts";
import type { CoreLedger } from "../ledger/ledger.ts";
import type { DeadLetters, LostCharge } from "./dead-letters.ts";

const USUAL_PAGE = 100;
const MOST_ON_A_PAGE = 1000;

/** Dependencies. */
export interface DeadLettersDependencies {
  readonly deadLetters: DeadLetters;
  readonly ledger: Pick<CoreLedger, "settleLate">;
  readonly logger: Logger;
}

/** What operators do with charges that could not be made. */
export function createDeadLettersService(deps: DeadLettersDependencies): ServiceImpl<typeof DeadLettersService> {
  const { deadLetters, ledger, logger } = deps;

  /** Throws RECEIPT_NOT_FOUND. */
  const find = async (id: string): Promise<LostCharge> => {
    const found = await deadLetters.find(id);
    if (found === undefined)
      throw failure(Reason.RECEIPT_NOT_FOUND, `There is no dead letter ${id}.`, { parameter: "id" });
    return found;
  };

  return {
    async listDeadLetters({ pageSize, pageToken }) {
      const most = Math.min(Math.max(pageSize, 0) || USUAL_PAGE, MOST_ON_A_PAGE);
      const { letters, next } = await deadLetters.list(pageToken, most);
      return { deadLetters: letters.map(toDeadLetter), nextPageToken: next ?? "" };
    },

    async settleDeadLetter({ id, inputTokens, outputTokens }) {
      const { charge } = await find(id);
      const tokens = {
        inputTokens: inputTokens === undefined ? charge.inputTokens : Number(inputTokens),
        outputTokens: outputTokens === undefined ? charge.outputTokens : Number(outputTokens),
      };
      await ledger.settleLate({ ...charge, ...tokens, cost: 0, shortfall: 0, lines: [] });
      await deadLetters.remove(id);
      logger.info({ id, requestId: charge.requestId, ...tokens }, "a dead letter was settled");
      return { requestId: charge.requestId, accountId: charge.accountId };
    },

    async dropDeadLetter({ id }) {
      const found = await find(id);
      await deadLetters.remove(id);
      logger.warn({ id, charge: found.charge, reason: found.reason }, "a dead letter was dropped: it is never charged");
      return { deadLetter: toDeadLetter(found) };
    },
  };
}

/** What a charge says may be of any type, as it comes from a journal. */
function toDeadLetter({ id, charge, reason, coreId, at }: LostCharge): DeadLetter {
  return {
    $typeName: "tollgate.metering.v1.DeadLetter",
    id,
    requestId: String(charge.requestId),
    accountId: String(charge.accountId),
    keyId: String(charge.keyId),
    model: String(charge.model),
    inputTokens: Number(charge.inputTokens),
    outputTokens: Number(charge.outputTokens),
    status: String(charge.status),
    reason,
    coreId,
    at: timestampFromDate(at),
  };
}
