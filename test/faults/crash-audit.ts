import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { parseUsd } from "#lib/money/money.ts";
import { eventually } from "../support/eventually.ts";
import { type Books, discrepancies } from "./books.ts";
import type { Customer } from "./crash.ts";
import type { Load } from "./load.ts";

/** What clients were told against what the books have. */
export interface Audit {
  /** Requests, and those whose clients were told their usage. */
  readonly asked: number;
  readonly acknowledged: number;
  /** Told, and without a receipt or with other tokens. */
  readonly lost: readonly string[];
  /** Told another cost than the receipt has. */
  readonly toldOther: readonly string[];
  /** Receipts that no request explains, or with more tokens than the engine counted. */
  readonly wrong: readonly string[];
  /** Pico-USD beyond balances, and beyond the limits of budgets. */
  readonly overshoot: bigint;
  readonly proved: boolean;
}

/** The part of a receipt that is compared. A request that a successor charged in part has several, which are added up. */
type Charged = Pick<Receipt, "inputTokens" | "outputTokens" | "costPicoUsd" | "status">;

/** Compares receipts with what clients were told and engines counted, apart from the program's own proof, and asks that, too. */
export async function audit(
  books: Books,
  customers: readonly Customer[],
  counted: ReadonlyMap<string, number>,
): Promise<Audit> {
  const settled = async () => {
    const { ok, openHolds } = { openHolds: await held(books, customers), ...(await books.reconcile()) };
    return ok && openHolds === 0n;
  };
  await eventually("nothing is held, and the books prove", settled, 120).catch(() => {}); // and is told below
  const found = { lost: [] as string[], toldOther: [] as string[], wrong: [] as string[] };
  let [asked, acknowledged, overshoot] = [0, 0, 0n];
  for (const { account, load, limit } of customers) {
    const receipts = await receiptsOf(books, account);
    const byName = new Map(
      load.asked.flatMap(({ id, name }) => {
        const receipt = receipts.get(id ?? "");
        return receipt === undefined ? [] : [[name, receipt as Receipt] as const];
      }),
    );
    found.lost.push(...discrepancies(load.acknowledged, byName));
    found.toldOther.push(...findOtherCosts(load, byName));
    found.wrong.push(...findStrange(load, receipts, counted));
    asked += load.asked.length;
    acknowledged += load.acknowledged.length;
    const spent = [...receipts.values()].reduce((sum, { costPicoUsd }) => sum + costPicoUsd, 0n);
    const { account: after } = await books.accounts.getAccount({ accountId: account });
    overshoot += (after?.debtPicoUsd ?? 0n) + (limit !== undefined && spent > limit ? spent - limit : 0n);
  }
  return { asked, acknowledged, ...found, overshoot, proved: await settled() };
}

async function held({ accounts }: Books, customers: readonly Customer[]): Promise<bigint> {
  let sum = 0n;
  for (const { account } of customers) {
    sum += (await accounts.getAccount({ accountId: account })).account?.heldPicoUsd ?? 0n;
  }
  return sum;
}

/** What each request of an account was charged. */
async function receiptsOf({ metering }: Books, accountId: string): Promise<Map<string, Charged>> {
  const found = new Map<string, Charged>();
  let pageToken = "";
  do {
    const page = await metering.listReceipts({ accountId, pageSize: 1000, pageToken });
    for (const receipt of page.receipts) {
      const before = found.get(receipt.requestId);
      found.set(receipt.requestId, before === undefined ? receipt : add(before, receipt));
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return found;
}

const add = (one: Charged, other: Charged): Charged => ({
  inputTokens: one.inputTokens + other.inputTokens,
  outputTokens: one.outputTokens + other.outputTokens,
  costPicoUsd: one.costPicoUsd + other.costPicoUsd,
  status: one.status,
});

function findOtherCosts({ acknowledged }: Load, receipts: ReadonlyMap<string, Charged>): string[] {
  return acknowledged.flatMap(({ name, acknowledged: told }) => {
    const { costPicoUsd } = receipts.get(name) ?? {};
    return costPicoUsd === undefined || parseUsd(told?.costUsd ?? "") === costPicoUsd
      ? []
      : [`${name}: told ${told?.costUsd}, charged ${costPicoUsd} p$`];
  });
}

/** Receipts of requests that nobody asked, and those with more tokens than the engine counted. */
function findStrange(
  { asked }: Load,
  receipts: ReadonlyMap<string, Charged>,
  counted: ReadonlyMap<string, number>,
): string[] {
  const names = new Map(asked.map(({ id, name }) => [id ?? "", name]));
  const unanswered = asked.filter(({ id }) => id === undefined).length;
  const strange = [...receipts.keys()].filter((id) => !names.has(id));
  const dear = [...receipts].filter(([id, { outputTokens }]) => {
    const name = names.get(id);
    return name !== undefined && Number(outputTokens) > (counted.get(name) ?? 0);
  });
  return [
    ...(strange.length > unanswered ? strange.map((id) => `${id} has a receipt, and nobody asked`) : []),
    ...dear.map(([id]) => `${id} has more tokens than were counted`),
  ];
}
