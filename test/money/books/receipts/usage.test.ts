import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { StreamUsageRequestSchema, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { reconcile } from "#src/money/books/proof/reconcile.ts";
import { streamUsage } from "#src/money/books/receipts/usage.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { createLedgerStore } from "#src/money/store/create.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { ApiKey } from "#src/storage/entities/api-key.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import type { Storage } from "#src/storage/storage.ts";
import { SeededRandom } from "../../../fleet/seeded-random.ts";
import { databases, dialects } from "../../databases.ts";

// Sums of usage, whichever tables they are read from, against the receipts added up one by one.

const newDatabase = databases();
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const rate = 1_234_567;
/** Two hundred days, so that the longest slots have parts before and behind them. */
const [start, end] = [20_600 * dayMs, 20_800 * dayMs];
const { ACCOUNT, DAY, HOUR, KEY, LABEL, MODEL } = UsageGroup;
const groupings = [[ACCOUNT], [ACCOUNT, KEY], [MODEL], [KEY, MODEL, DAY], [HOUR, ACCOUNT]];

interface Books {
  readonly storage: Storage;
  readonly store: LedgerStore;
  /** Accounts and their keys. */
  readonly accounts: readonly { readonly id: string; readonly keys: readonly string[] }[];
}

async function open(url: string): Promise<Books> {
  const storage = await openStorage(url);
  const store = createLedgerStore(storage, systemRandom, v7());
  const at = new Date(start);
  const accounts = [0, 1, 2].map(() => ({ id: v7(), keys: ["", v7(), v7()] }));
  const em = storage.orm.em.fork();
  for (const { id, keys } of accounts) {
    const none = { maxKeys: 20, requestId: null, paidTotal: 0n, debt: 0n };
    await em.insert(Account, { id, name: id, nameKey: toNameKey(id), createdAt: at, ...none });
    for (const keyId of keys.slice(1)) {
      const secret = { digest: Buffer.from(keyId), pepperVersion: 1, prefix: "tg", last4: "0000" };
      await em.insert(ApiKey, { id: keyId, accountId: id, name: "", createdAt: at, limits: { rpm: 1 }, ...secret });
    }
  }
  return { storage, store, accounts };
}

/** Charges at odd moments: the edges of hours and days, and anywhere between. */
function makeCharges({ accounts }: Books, random: () => number, count: number): Charge[] {
  const below = (most: number) => Math.floor(random() * most);
  const pick = <T>(of: readonly T[]) => of[below(of.length)] as T;
  return Array.from({ length: count }, () => {
    const { id, keys } = pick(accounts);
    const [inputTokens, outputTokens] = [below(5000), below(5000)];
    const cost = (inputTokens + outputTokens) * rate;
    const edge = start + below((end - start) / hourMs) * hourMs + pick([0, -1, 1, below(60) * 60_000, below(hourMs)]);
    return {
      ...{ requestId: v7(), runId: v7(), accountId: id, keyId: pick(keys), model: pick(["small", "large"]) },
      ...{ inputTokens, outputTokens, cost, shortfall: cost, status: "completed", settledAt: Math.max(start, edge) },
      ...{ maxRates: { input: rate, output: rate }, admitted: { inputTokens, outputTokens }, lines: [] },
      ...pick([{}, ...labels.map((of) => ({ labels: JSON.stringify(of) }))]),
    };
  });
}

const labels = [{ app: "Cline" }, { app: "other", user: 'Zoë "Z"' }, { user: "u" }];

interface Question {
  readonly groupBy: readonly UsageGroup[];
  readonly from?: number;
  readonly to?: number;
  readonly keyId?: string;
  readonly accountId?: string;
  readonly model?: string;
  readonly labelName?: string;
  readonly labelValue?: string;
}

const labelOf = ({ labels }: Charge, name = "") => JSON.parse(labels ?? "{}")[name] ?? "";
const isoOf = (ms: number) => new Date(ms).toISOString().replace(".000Z", "Z");
const nameOf: Readonly<Record<number, (charge: Charge, labelName?: string) => string>> = {
  [ACCOUNT]: ({ accountId }) => accountId,
  [KEY]: ({ keyId }) => keyId,
  [MODEL]: ({ model }) => model,
  [DAY]: ({ settledAt }) => isoOf(settledAt).slice(0, 10),
  [HOUR]: ({ settledAt }) => isoOf(Math.floor(settledAt / hourMs) * hourMs),
  [LABEL]: labelOf,
};

/** Rows as texts, added up from charges. */
function addUp(
  charges: readonly Charge[],
  { groupBy, from = 0, to = end * 2, labelName, labelValue, ...only }: Question,
): string[] {
  const sums = new Map<string, [number, number, number, bigint]>();
  const counts = (charge: Charge) =>
    charge.settledAt >= from &&
    charge.settledAt < to &&
    (labelValue === undefined || labelOf(charge, labelName) === labelValue) &&
    Object.entries(only).every(([name, value]) => charge[name as keyof Charge] === value);
  for (const charge of charges.filter(counts)) {
    const group = [...groupBy].sort().map((by) => nameOf[by]?.(charge, labelName));
    const sum = sums.get(group.join(" ")) ?? [0, 0, 0, 0n];
    sums.set(group.join(" "), [
      ...([sum[0] + 1, sum[1] + charge.inputTokens, sum[2] + charge.outputTokens] as const),
      sum[3] + BigInt(charge.cost),
    ]);
  }
  return [...sums].map(([group, sum]) => `${group}: ${sum.join(" ")}`).sort();
}

/** Rows as texts, as they are answered. */
async function ask(storage: Storage, { from, to, groupBy, ...only }: Question, dearest = 0): Promise<string[]> {
  const times = {
    ...(from !== undefined && { from: timestampFromMs(from) }),
    ...(to !== undefined && { to: timestampFromMs(to) }),
  };
  const request = create(StreamUsageRequestSchema, { groupBy: [...groupBy], ...only, ...times, dearest });
  const rows: string[] = [];
  for await (const piece of streamUsage(storage, request)) {
    for (const {
      accountId,
      keyId,
      model,
      day,
      hour,
      label,
      requests,
      inputTokens,
      outputTokens,
      totalCostPicoUsd,
    } of piece.rows) {
      const names: Readonly<Record<number, string>> = {
        [ACCOUNT]: accountId,
        [KEY]: keyId,
        [MODEL]: model,
        [DAY]: day,
        [LABEL]: label,
      };
      const group = [...groupBy].sort().map((by) => names[by] ?? hour);
      rows.push(`${group.join(" ")}: ${requests} ${inputTokens} ${outputTokens} ${totalCostPicoUsd}`);
    }
  }
  return rows;
}

/** Spans that begin and end anywhere, at whole hours and days, within one hour, and not at all. */
function makeSpans(random: () => number): Pick<Question, "from" | "to">[] {
  const anywhere = (step: number) => start + Math.floor((random() * (end - start)) / step) * step;
  const between = (step: number) => {
    const [one, other] = [anywhere(step), anywhere(step)];
    return { from: Math.min(one, other), to: Math.max(one, other) };
  };
  const hour = anywhere(hourMs);
  return [
    ...[{}, { from: anywhere(dayMs) }, { from: anywhere(1) }, { to: anywhere(1) }, between(1), between(60_000)],
    ...[between(hourMs), between(dayMs), { from: hour + 600_000, to: hour + 3_000_000 }],
    ...[
      { from: hour - 1, to: hour + hourMs + 1 },
      { from: hour + 1_200_000, to: hour + hourMs + 2_400_000 },
    ],
    { from: hour, to: hour },
  ];
}

async function compare({ storage, accounts }: Books, charges: readonly Charge[], random: () => number): Promise<void> {
  const [{ id, keys }] = accounts as [Books["accounts"][number]];
  const key = { keyId: String(keys[1]) };
  for (const [at, span] of makeSpans(random).entries()) {
    const only = [{}, {}, { accountId: id }, key, { model: "small" }][at % 5];
    for (const groupBy of groupings) {
      const question = { groupBy, ...span, ...only };
      const rows = await ask(storage, question);
      expect({ question, rows: rows.toSorted() }).toEqual({ question, rows: addUp(charges, question) });
      const dearest = await ask(storage, question, 2);
      expect(dearest.map(readCost)).toEqual(rows.map(readCost).sort(descending).slice(0, 2));
    }
  }
}

/** Usage by a label, or of one value of it, adds up with that of requests without it. */
async function compareLabels({ storage, accounts }: Books, charges: readonly Charge[], random: () => number) {
  const only = [{}, { accountId: accounts[0]?.id ?? "" }, { model: "small" }];
  const values = [{}, { labelValue: "Cline" }, { labelValue: "" }, { labelValue: "none has it" }];
  for (const [at, span] of makeSpans(random).entries()) {
    for (const groupBy of [[LABEL], [LABEL, MODEL, DAY], [ACCOUNT, HOUR], [LABEL, KEY]]) {
      const question = { groupBy, ...span, ...only[at % 3], labelName: "app", ...values[(at + groupBy.length) % 4] };
      const rows = await ask(storage, question);
      expect({ question, rows: rows.toSorted() }).toEqual({ question, rows: addUp(charges, question) });
    }
  }
  const quoted = { groupBy: [MODEL], labelName: "user", labelValue: 'Zoë "Z"' };
  expect((await ask(storage, quoted)).toSorted()).toEqual(addUp(charges, quoted));
}

const readCost = (row: string) => BigInt(row.slice(row.lastIndexOf(" ") + 1));
const descending = (one: bigint, other: bigint) => (one < other ? 1 : -1);

async function prove({ storage }: Books): Promise<void> {
  expect(await reconcile(storage)).toMatchObject({ ok: true, findings: [] });
}

async function fold({ store }: Books): Promise<void> {
  await store.markSeen(await store.unseenTallies(10_000));
  while ((await store.foldTallies(end / hourMs + 48)) > 0) {}
}

describe.each(dialects)("%s", (dialect) => {
  test("usage of any span is that of its receipts, folded or not, in time or late", async () => {
    const seeded = new SeededRandom(17);
    const random = () => seeded.fraction();
    const books = await open(await newDatabase(dialect));
    const early = makeCharges(books, random, 200);
    await books.store.settle(early);
    await fold(books);
    await compare(books, early, random);
    const late = [...early, ...makeCharges(books, random, 60)];
    await books.store.settle(late.slice(early.length));
    await compare(books, late, random);
    await compareLabels(books, late, random);
    await fold(books);
    await compare(books, late, random);
    await compareLabels(books, late, random);
    await prove(books);
    await books.storage.orm.em
      .fork()
      .execute("update usage_span set cost_low = cost_low + 1 where hours = 1536 and detail = 'key'");
    const { findings } = await reconcile(books.storage);
    expect([...new Set(findings.map(({ rule }) => rule))]).toEqual([
      "the usage of a span of 1536 h is that of its hours",
      "the usage of an account in a span of 1536 h is that of its keys",
    ]);
    await books.store.end();
    await books.storage.close();
  }, 60_000);

  test("a label has to be named", async () => {
    const { store, storage } = await open(await newDatabase(dialect));
    const nameless = { detail: expect.objectContaining({ parameter: "label_name" }) };
    for (const question of [{ groupBy: [LABEL] }, { groupBy: [MODEL], labelValue: "x" }]) {
      const reading = ask(storage, question).catch((error: unknown) => ({ detail: readDetail(error) }));
      expect(await reading).toMatchObject(nameless);
    }
    await store.end();
    await storage.close();
  });
});
