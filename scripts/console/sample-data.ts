import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type Transport } from "@connectrpc/connect";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { ModelKind } from "#gen/tollgate/catalogue/v1/model_pb.js";

/** What pictures are taken of. */
export interface Sample {
  readonly accountId: string;
  /** A key of that account. */
  readonly key: string;
  /** A request that it sent. */
  readonly requestId: string;
  readonly model: string;
  /** Ends the traffic. */
  stop(): void;
}

const usd = 10n ** 12n;
/** Long enough that plots have lines. */
const trafficMs = 60_000;
const clients = 6;
const questions = [
  "Why is the sky blue?",
  "Summarise the minutes of Monday's meeting in five points.",
  "Write a haiku about toll gates.",
  "What is the difference between a lease and a lock?",
];

/** Makes accounts, payments and keys, and keeps requests coming. */
export async function fill(transport: Transport, url: string): Promise<Sample> {
  const accounts = createClient(AccountsService, transport);
  const make = async (name: string, paid: readonly bigint[], discountBasisPoints = 0) => {
    const { account } = await accounts.createAccount({ name });
    const accountId = account?.id ?? "";
    if (discountBasisPoints > 0) {
      await accounts.setAccountPrices({ accountId, ownPrices: { discountBasisPoints } });
    }
    for (const [index, amount] of paid.entries()) {
      const reference = `invoice-${name.slice(0, 3).toLowerCase()}-${index + 1}`;
      await accounts.topUp({ accountId, amountPicoUsd: amount * usd, reference });
    }
    return accountId;
  };
  const first = await make("Northwind Research", [25n, 100n], 1000);
  const creditLine = { creditLinePicoUsd: 50n * usd, updateMask: { paths: ["credit_line_pico_usd"] } };
  await accounts.updateAccount({ accountId: first, ...creditLine });
  const second = await make("Aster Labs", [250n]);
  await make("Kestrel Analytics", [40n]);
  const frozen = await make("Paper Boat Studio", []);
  const stopped = await accounts.createKey({ accountId: frozen, name: "site" });
  await accounts.freezeAccount({ accountId: frozen, reason: "A chargeback is open" });
  await accounts.grant({ accountId: first, amountPicoUsd: 5n * usd, reference: "welcome" });
  const { secret } = await accounts.createKey({ accountId: first, name: "production", limits: { rpm: 60_000 } });
  const budget = { budgetPicoUsd: 20n * usd, budgetPeriod: BudgetPeriod.MONTH };
  const batch = await accounts.createKey({
    accountId: first,
    name: "batch jobs",
    limits: { tokensPerMinute: 200_000, ...budget },
  });
  await accounts.rotateKey({ keyId: batch.key?.id ?? "", overlap: { seconds: 7200n } });
  const other = await accounts.createKey({ accountId: second, name: "production", limits: { rpm: 60_000 } });
  const { models } = await createClient(CatalogueService, transport).listModels({});
  const served = models.filter(({ kind }) => kind === ModelKind.GENERATION).map(({ id }) => id);
  let isOver = false;
  let requestId = "";
  const run = async (index: number): Promise<void> => {
    const isFirst = index % 3 !== 2;
    for (let count = index; !isOver; count += 1) {
      const id = await ask(url, isFirst ? secret : other.secret, served[count % served.length] ?? "", count);
      requestId = isFirst ? id : requestId;
      await sleep((count * 97) % 400);
    }
  };
  for (let index = 0; index < clients; index += 1) {
    void run(index).catch((error: unknown) => console.error(error));
  }
  await sleep(trafficMs);
  for (const [key, model] of [
    [stopped.secret, served[0]],
    [secret, "no-such-model"],
    [stopped.secret, served[1]],
  ] as const) {
    await ask(url, key, model ?? "", 0);
  }
  const stop = () => {
    isOver = true;
  };
  return { accountId: first, key: secret, requestId, model: served[0] ?? "", stop };
}

async function ask(url: string, key: string, model: string, count: number): Promise<string> {
  const content = questions[count % questions.length];
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content }], max_tokens: 60 + ((count * 37) % 200) }),
  });
  await response.text();
  return response.headers.get("x-request-id") ?? "";
}
