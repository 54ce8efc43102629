import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { validate as isUuid } from "uuid";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { BooksService, ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { type DeadLetter, DeadLetterSchema } from "#gen/tollgate/metering/v1/dead_letter_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Logger } from "#lib/logger.ts";
import { readPage } from "#lib/rpc/pages.ts";
import type { Clock } from "#lib/time/clock.ts";
import { hasAddends, readAddends } from "#src/money/books/proof/addends.ts";
import { storeLastProof } from "#src/money/books/proof/last-proof.ts";
import { type ReconcileStep, reconcile } from "#src/money/books/proof/reconcile.ts";
import type { ArchivedReceipts } from "#src/money/books/receipts/archived-receipts.ts";
import type { DeadLetters, LostCharge } from "#src/money/ledger/settlement/dead-letters.ts";
import type { CoreLedger } from "#src/money/model/core-ledger.ts";
import type { MeteringObserver } from "#src/money/model/observer.ts";
import { listArchives, toArchiveMessage } from "#src/money/retention/archives.ts";
import type { Storage } from "#src/storage/storage.ts";
import { noteBefore } from "#src/wire/interceptors/changes/change.ts";

interface Dependencies {
  readonly storage: Storage;
  readonly ledger: Pick<CoreLedger, "settleLate" | "unknownSlices">;
  readonly deadLetters: DeadLetters;
  readonly archives: Pick<ArchivedReceipts, "findFaulty">;
  readonly observer: Pick<MeteringObserver, "reconciled">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Proves that the books add up, and handles charges that could not be entered. */
export function createBooksService(deps: Dependencies): ServiceImpl<typeof BooksService> {
  const { storage, ledger, deadLetters, archives, observer, clock, logger } = deps;

  /** Throws RECEIPT_NOT_FOUND. */
  const find = async (id: string): Promise<LostCharge> => {
    const found = await deadLetters.find(id);
    if (found === undefined) {
      throw failure(Reason.RECEIPT_NOT_FOUND, `There is no dead letter ${id}.`, { parameter: "dead_letter_id" });
    }
    return found;
  };

  const told = async (proof: ReconcileResponse): Promise<ReconcileResponse> => {
    observer.reconciled(proof);
    await storeLastProof(storage, { at: clock.now(), proof }).catch((error: unknown) =>
      logger.warn({ error }, "the other cores do not hear of the proof of the books"),
    );
    return proof;
  };

  /** Ends a proof whose caller has left. */
  const whileCalled =
    ({ signal }: Pick<HandlerContext, "signal">) =>
    async () =>
      signal.throwIfAborted();

  return {
    reconcile: async ({ all }, context) =>
      told(await reconcile(storage, ledger, { all, archives, pace: whileCalled(context) })),

    async *streamReconcile({ all }, context) {
      const steps = new Steps();
      const onStep = (step: ReconcileStep) => steps.add(step);
      // Proves at its own pace: a caller who reads slowly must not keep a snapshot open.
      const proving = reconcile(storage, ledger, { all, archives, onStep, pace: whileCalled(context) }).finally(() =>
        steps.end(),
      );
      proving.catch(() => {}); // awaited below, after all steps are told
      yield* steps;
      const proof = await told(await proving);
      yield { done: steps.total, total: steps.total, proof };
    },

    async listAddends({ sum, ...request }) {
      if (!hasAddends(sum)) {
        throw failure(Reason.INVALID_ARGUMENT, "There is no list of this sum's addends.", { parameter: "sum" });
      }
      const { entries, nextPageToken } = await readPage(
        `addends of sum ${sum}`,
        request,
        (start) => readAddends(storage, sum, start),
        ({ accountId }) => accountId,
        isUuid,
      );
      return { addends: entries.map(({ amount, ...of }) => ({ ...of, amountPicoUsd: String(amount) })), nextPageToken };
    },

    async listDeadLetters(request) {
      const { entries, nextPageToken } = await readPage(
        "dead letters",
        request,
        (start) => deadLetters.list(start),
        ({ id }) => id,
      );
      return { deadLetters: entries.map(toDeadLetter), nextPageToken };
    },

    async listReceiptArchives(request) {
      const { entries, nextPageToken } = await readPage(
        "archives of receipts",
        request,
        (start) => listArchives(storage, start),
        ({ day }) => String(day),
        (key) => /^\d{1,7}$/.test(key),
      );
      return { archives: entries.map(toArchiveMessage), nextPageToken };
    },

    async settleDeadLetter({ deadLetterId: id, inputTokens, outputTokens }, context) {
      const found = await find(id);
      noteBefore(context, DeadLetterSchema, toDeadLetter(found));
      const { charge } = found;
      const tokens = {
        inputTokens: inputTokens === undefined ? charge.inputTokens : Number(inputTokens),
        outputTokens: outputTokens === undefined ? charge.outputTokens : Number(outputTokens),
      };
      await ledger.settleLate({ ...charge, ...tokens, cost: 0, shortfall: 0, lines: [] });
      await deadLetters.remove(id);
      logger.info({ id, requestId: charge.requestId, ...tokens }, "a dead letter was settled");
      return { requestId: charge.requestId, accountId: charge.accountId };
    },

    async dropDeadLetter({ deadLetterId: id }, context) {
      const found = await find(id);
      noteBefore(context, DeadLetterSchema, toDeadLetter(found));
      await deadLetters.remove(id);
      logger.warn({ id, charge: found.charge, reason: found.reason }, "a dead letter was dropped: it is never charged");
      return { deadLetter: toDeadLetter(found) };
    },
  };
}

/** The steps of a proof that the caller has not read yet: at most one per rule. */
class Steps implements AsyncIterable<ReconcileStep> {
  total = 0;
  readonly #waiting: ReconcileStep[] = [];
  #ended = false;
  #wake = () => {};

  add(step: ReconcileStep): void {
    this.total = step.total;
    this.#waiting.push(step);
    this.#wake();
  }

  end(): void {
    this.#ended = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ReconcileStep> {
    for (;;) {
      const step = this.#waiting.shift();
      if (step !== undefined) {
        yield step;
      } else if (this.#ended) {
        return;
      } else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}

/** Any field of the charge may have any type, because the charge comes from a journal. */
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
