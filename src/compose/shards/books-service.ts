import type { ServiceImpl } from "@connectrpc/connect";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { BooksService, ReconcileFinding, ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { failure } from "../../../lib/errors/failure.ts";
import { createBooksService } from "../../metering/books/books-service.ts";
import { reconcile } from "../../metering/books/proof/reconcile.ts";
import { proveMoves } from "./moves/prove-moves.ts";
import type { Shard } from "./open-shards.ts";
import type { Shards } from "./shards.ts";

/** The proof and the dead letters. With several databases: of each and of all together. */
export function createShardedBooksService(shards: Shards<Shard>): ServiceImpl<typeof BooksService> {
  const services = shards.map(({ foundation: { storage, logger }, books: { ledger, deadLetters, observer } }) =>
    createBooksService({ storage, ledger, deadLetters, observer, logger }),
  );
  if (!shards.areSeveral) {
    return services.first;
  }

  /** The service of the database that has a dead letter. If none has it: the first one, which refuses it. */
  async function findHolder(id: string) {
    for (const [number, { books }] of shards.all().entries()) {
      if ((await books.deadLetters.find(id)) !== undefined) {
        return services.at(number);
      }
    }
    return services.first;
  }

  async function prove({ foundation: { storage }, books: { ledger, observer } }: Shard): Promise<ReconcileResponse> {
    const proof = await reconcile(storage, ledger);
    observer.reconciled(proof);
    return proof;
  }

  const proveTransit = () => proveMoves(shards.all().map(({ foundation }) => foundation.storage));

  return {
    async reconcile() {
      return addProofs(await Promise.all(shards.all().map(prove)), await proveTransit());
    },

    async *streamReconcile() {
      const all = shards.all();
      const proofs: ReconcileResponse[] = [];
      for (const [done, shard] of all.entries()) {
        yield { done, total: all.length, rule: `the books of database ${done} add up` };
        proofs.push(await prove(shard));
      }
      yield { done: all.length, total: all.length, proof: addProofs(proofs, await proveTransit()) };
    },

    listAddends: (request, context) =>
      chain(
        request,
        services.all(),
        ({ addends = [] }) => addends.length,
        async (service, pageToken) => service.listAddends({ ...request, pageToken }, context),
      ),

    listDeadLetters: (request, context) =>
      chain(
        request,
        services.all(),
        ({ deadLetters = [] }) => deadLetters.length,
        async (service, pageToken) => service.listDeadLetters({ ...request, pageToken }, context),
      ),

    listReceiptArchives: (request, context) =>
      chain(
        request,
        services.all(),
        ({ archives = [] }) => archives.length,
        async (service, pageToken) => service.listReceiptArchives({ ...request, pageToken }, context),
      ),

    settleDeadLetter: async (request, context) =>
      (await findHolder(request.deadLetterId)).settleDeadLetter(request, context),
    dropDeadLetter: async (request, context) =>
      (await findHolder(request.deadLetterId)).dropDeadLetter(request, context),
  };
}

/** The proof of all books together, with the totals of their sums. */
function addProofs(proofs: readonly ReconcileResponse[], transit: readonly ReconcileFinding[]): ReconcileResponse {
  const money = (name: `${string}PicoUsd` & keyof ReconcileResponse) =>
    String(proofs.reduce((sum, proof) => sum + BigInt(proof[name]), 0n));
  return {
    $typeName: "tollgate.metering.v1.ReconcileResponse",
    ok: proofs.every(({ ok }) => ok) && transit.length === 0,
    accounts: proofs.reduce((sum, { accounts }) => sum + accounts, 0n),
    receipts: proofs.reduce((sum, { receipts }) => sum + receipts, 0n),
    grantedPicoUsd: money("grantedPicoUsd"),
    balancePicoUsd: money("balancePicoUsd"),
    spentPicoUsd: money("spentPicoUsd"),
    refundedPicoUsd: money("refundedPicoUsd"),
    expiredPicoUsd: money("expiredPicoUsd"),
    debtPicoUsd: money("debtPicoUsd"),
    movedPicoUsd: money("movedPicoUsd"),
    findings: [...proofs.flatMap(({ findings }) => findings), ...transit],
    shards: [...proofs],
  };
}

/**
 * A page of several lists in sequence, one for each database. A page token is the number of its database before that
 * database's own token. Throws INVALID_ARGUMENT.
 */
async function chain<List, Answer extends { nextPageToken?: string }>(
  { pageToken }: { readonly pageToken: string },
  lists: readonly List[],
  count: (answer: Answer) => number,
  ask: (list: List, pageToken: string) => Promise<Answer>,
): Promise<Answer> {
  const [, first, own = ""] = /^(\d{1,3})\.(.*)$/s.exec(pageToken || "0.") ?? [];
  for (let number = Number(first), token = own; ; number++, token = "") {
    const list = lists[number];
    if (list === undefined) {
      throw failure(Reason.INVALID_ARGUMENT, "The page token is not of an answer to this call.", {
        parameter: "page_token",
      });
    }
    const answer = await ask(list, token);
    if (answer.nextPageToken) {
      return { ...answer, nextPageToken: `${number}.${answer.nextPageToken}` };
    }
    if (number === lists.length - 1) {
      return answer;
    }
    if (count(answer) > 0) {
      return { ...answer, nextPageToken: `${number + 1}.` };
    }
  }
}
