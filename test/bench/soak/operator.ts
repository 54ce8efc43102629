import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { PricesService } from "#gen/tollgate/metering/v1/prices_service_pb.js";
import type { Inside } from "../systems/interface.ts";
import type { Keys } from "./mix.ts";

const picoUsd = 10n ** 12n;

/** What the operator of a soaked Tollgate does. */
export interface Operator {
  readonly keys: Keys;
  /** A round of daily work: money in, money given, money back, a key made and revoked. */
  work(): Promise<void>;
  /** What is wrong with the books; empty when they add up. */
  reconcile(): Promise<readonly string[]>;
}

/** Makes the customers and their keys. */
export async function startOperator({ connect, operatorToken }: Inside): Promise<Operator> {
  const transport = createConnectTransport({ baseUrl: connect, httpVersion: "1.1" });
  const accounts = createClient(AccountsService, transport);
  const prices = createClient(PricesService, transport);
  const books = createClient(BooksService, transport);
  const options = { headers: { authorization: `Bearer ${operatorToken}` } };
  const account = async (name: string) => (await accounts.createAccount({ name }, options)).account?.id ?? "";
  const key = async (accountId: string, rpm = 1_000_000) =>
    (await accounts.createKey({ accountId, name: "soak", limits: { rpm } }, options)).secret;
  let references = 0;
  const amount = (accountId: string, amountPicoUsd: bigint) => {
    references++;
    return { accountId, amountPicoUsd, reference: `soak-${references}` };
  };

  const rich = await account("rich");
  const limited = await account("limited");
  const thin = await account("thin");
  for (const id of [rich, limited]) {
    await accounts.topUp(amount(id, 50n * picoUsd), options);
  }
  const keys = {
    rich: [await key(rich), await key(rich), await key(rich)],
    limited: await key(limited, 60),
    thin: await key(thin),
    unknown: `tg-${"0".repeat(50)}`,
  };
  return {
    keys,
    async work() {
      await accounts.topUp(amount(rich, 5n * picoUsd), options);
      await accounts.refund(amount(rich, picoUsd), options);
      await accounts.grant(amount(thin, picoUsd / 40_000n), options); // some hundred tokens
      const { key: made } = await accounts.createKey({ accountId: rich, name: "short-lived" }, options);
      await accounts.revokeKey({ keyId: made?.id ?? "" }, options);
      await prices.listPrices({}, options);
    },
    async reconcile() {
      const { ok, findings } = await books.reconcile({}, options);
      return ok ? [] : ["the books do not add up", ...findings.map(({ row, message }) => `${row}: ${message}`)];
    },
  };
}
