import { createClient } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import { type Receipt, ReceiptStatus } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { eventually } from "../support/eventually.ts";
import type { Tollgate } from "../support/tollgate.ts";
import type { Asked, Load } from "./load.ts";

/** The token that the services under test take for their operator's. */
export const operatorToken = "operator-token-of-the-fault-tests";

/**
 * Asks again while the core cannot reach its database, as clients do: a connection that died with the database fails the
 * first statement on it.
 */
async function whileAway<T>(ask: () => Promise<T>): Promise<T> {
  return (await eventually("the database is reached", () =>
    ask().catch((error: unknown) => {
      if (readDetail(error)?.reason === Reason.LEDGER_UNAVAILABLE) {
        return undefined;
      }
      throw error;
    }),
  )) as T;
}

/** What a core's books say, asked over gRPC. */
export type Books = ReturnType<typeof openBooks>;

export function openBooks({ addresses }: Pick<Tollgate, "addresses">) {
  const transport = createChannelTransport({
    target: String(addresses.grpc),
    interceptors: [
      (next) => (call) => {
        call.header.set("authorization", `Bearer ${operatorToken}`);
        return call.stream ? next(call) : whileAway(() => next(call));
      },
    ],
  });
  const metering = createClient(MeteringService, transport);
  const proofs = createClient(BooksService, transport);
  const accounts = createClient(AccountsService, transport);
  return {
    metering,
    reconcile: () => proofs.reconcile({}),
    accounts,
    prices: createClient(PricesService, transport),
    close: () => transport.close(),

    /** A new account with money, and a key that no rate limit stops; it has a budget, which is leased and charged beside the money. */
    async customer(usd: bigint): Promise<{ account: string; key: string }> {
      const { account: made } = await accounts.createAccount({ name: "customer" });
      const accountId = made?.id ?? "";
      const amountPicoUsd = usd * 1_000_000_000_000n;
      await accounts.topUp({ accountId, amountPicoUsd, reference: `payment-${accountId}` });
      const { secret } = await accounts.createKey({
        accountId,
        limits: { rpm: 1_000_000, budgetPicoUsd: 2n * amountPicoUsd },
      });
      return { account: accountId, key: secret };
    },

    /** Undefined: the request was not charged. */
    async receipt(requestId: string | undefined): Promise<Receipt | undefined> {
      if (requestId === undefined) {
        return undefined;
      }
      try {
        return (await metering.getReceipt({ requestId })).receipt;
      } catch (error) {
        if (readDetail(error)?.reason === Reason.RECEIPT_NOT_FOUND) {
          return undefined;
        }
        throw error;
      }
    },

    /** The receipts of all that was begun and charged, by the request's name. */
    async receiptsOf({ asked }: Pick<Load, "asked">): Promise<Map<string, Receipt>> {
      const begun = new Map(asked.filter(({ status }) => status === 200).map(({ id, name }) => [id, name]));
      const found = new Map<string, Receipt>();
      let pageToken = "";
      do {
        const page = await metering.listReceipts({ pageSize: 1000, pageToken });
        for (const receipt of page.receipts) {
          const name = begun.get(receipt.requestId);
          if (name !== undefined) {
            found.set(name, receipt);
          }
        }
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      return found;
    },

    /** What the account's only key has spent of its budget, in pico-USD. */
    async budgetSpent(accountId: string): Promise<bigint | undefined> {
      return (await accounts.listKeys({ accountId })).keys[0]?.budgetSpentPicoUsd;
    },

    /** How many receipts the account has. */
    async requests(accountId: string): Promise<number> {
      let requests = 0n;
      for await (const { rows } of metering.streamUsage({ accountId })) {
        for (const row of rows) {
          requests += row.requests;
        }
      }
      return Number(requests);
    },
  };
}

/** What is wrong with the receipts of requests whose clients were told their usage. */
export function discrepancies(acknowledged: readonly Asked[], receipts: ReadonlyMap<string, Receipt>): string[] {
  return acknowledged.flatMap(({ name, acknowledged: told }) => {
    const receipt = receipts.get(name);
    if (receipt === undefined) {
      return [`${name} was acknowledged but never charged`];
    }
    const same =
      Number(receipt.inputTokens) === told?.inputTokens && Number(receipt.outputTokens) === told.outputTokens;
    const whole = receipt.status === ReceiptStatus.COMPLETED;
    return same && whole
      ? []
      : [`${name}: told ${JSON.stringify(told)}, charged ${receipt.outputTokens}, ${receipt.status}`];
  });
}
