import { v7 } from "uuid";
import { findStored } from "#src/services/find/find-stored.ts";
import { Account, toNameKey } from "#src/storage/entities/account.ts";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { makeDays } from "#src/storage/postgresql/days.ts";
import type { Storage } from "#src/storage/storage.ts";
import { openDatabases, type Store, stores } from "./ledger/databases.ts";
import { percentiles, spread } from "./report/statistics.ts";
import type { Figure, Scenario } from "./scenario.ts";

const accounts = 10_000;
const keysOfAccount = 5;
const requests = { all: 10_000_000, quick: 1_000_000 };
const questions = 50;
/** Whoever types waits no longer. */
const mostMs = 100;
const rowsAtOnce = 500;
/** So that SQLite's thread answers within its bound. */
const requestsAtOnce = 250_000;
const dayMs = 86_400_000;
/** To fill a database takes statements that run for minutes. */
const patience = { connectMs: 10_000, answerMs: 1_800_000 };

/** What the field of the console finds. */
export const search: Scenario = {
  name: "search",
  shows: "times to find accounts, keys and requests among 10,000, 50,000 and 10 million, on both stores",
  onlyNamed: true,
  async run({ directory, options, progress }) {
    const figures: Figure[] = [];
    const count = options.quick ? requests.quick : requests.all;
    for (const store of stores) {
      const databases = await openDatabases(store, directory);
      try {
        const storage = await openStorage(await databases.create("search"), patience);
        try {
          progress(`filling ${store} with ${count} requests`);
          await fill(storage, count);
          progress(`asking ${store}`);
          figures.push(...(await measure(storage, store, count)));
        } finally {
          await storage.close();
        }
      } finally {
        await databases.stop();
      }
    }
    return { figures };
  },
};

const some = (count: number) => Math.floor(Math.random() * count);
const nameOf = (account: number) => `Customer ${String(account).padStart(5, "0")} of the north`;

/** What somebody has at hand, and what it has to lead to. */
const kinds: readonly { readonly name: string; readonly kind: string; readonly of: (count: number) => string }[] = [
  { name: "an account by a part of its name", kind: "account", of: () => nameOf(some(accounts)).slice(9) },
  { name: "a key by its last four", kind: "key", of: () => last4Of(some(accounts * keysOfAccount)) },
  { name: "a key by a part of its name", kind: "key", of: () => `worker ${some(accounts * keysOfAccount)}` },
  { name: "a request by its id", kind: "request", of: (count) => `req_${some(count)}` },
];

const last4Of = (key: number) => String(key).padStart(5, "0").slice(-4);

async function measure(storage: Storage, store: Store, count: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const { name, kind, of } of kinds) {
    const times: number[] = [];
    for (let question = 0; question < questions; question++) {
      const text = of(count);
      const since = performance.now();
      const found = await findStored(storage, { text, accountId: "", namesAccounts: true, limit: 10 });
      times.push(performance.now() - since);
      if (!found.some((thing) => thing.kind === kind)) {
        throw new Error(`${store}: "${text}" finds no ${kind}`);
      }
    }
    figures.push({
      ...{ scenario: "search", name: `${store}: ${name}, p99`, unit: "ms", better: "lower", limit: mostMs },
      value: spread([percentiles(times).p99]),
    });
  }
  return figures;
}

async function fill(storage: Storage, count: number): Promise<void> {
  const em = storage.orm.em.fork();
  const createdAt = new Date();
  const ids = Array.from({ length: accounts }, () => v7());
  for (let from = 0; from < accounts; from += rowsAtOnce) {
    const some = ids.slice(from, from + rowsAtOnce);
    await em.insertMany(
      Account,
      some.map((id, at) => {
        const name = nameOf(from + at);
        return { id, name, nameKey: toNameKey(name), maxKeys: 20, createdAt, requestId: null, paidTotal: 0n, debt: 0n };
      }),
    );
    const keys = some.flatMap((accountId, at) =>
      Array.from({ length: keysOfAccount }, (_, own) => ({ accountId, number: (from + at) * keysOfAccount + own })),
    );
    const at = storage.dialect === "sqlite" ? String(+createdAt) : `to_timestamp(${+createdAt} / 1000.0)`;
    const rows = keys.map(() => `(?, ?, ?, ?, 1, 'tg-bench', ?, ${at})`).join(", ");
    await em.execute(
      `insert into api_key (id, account_id, name, digest, pepper_version, prefix, last4, created_at) values ${rows}`,
      keys.flatMap(({ accountId, number }) => [
        v7(),
        accountId,
        `worker ${number}`,
        Buffer.from(`key ${number}`),
        last4Of(number),
      ]),
    );
  }
  await fillRequests(storage, ids[0] ?? "", count);
  await em.execute("analyze");
}

/** Receipts of the last day. Their ids are what they are found by. */
async function fillRequests(storage: Storage, accountId: string, count: number): Promise<void> {
  const now = Date.now();
  if (storage.dialect === "postgresql") {
    const today = Math.floor(now / dayMs);
    await makeDays(storage.pool, [today - 1, today]);
  }
  const isSqlite = storage.dialect === "sqlite";
  const runId = isSqlite
    ? "'00000000-0000-7000-8000-' || printf('%012d', n)"
    : "('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid";
  const ms = `${now} - n % ${dayMs}`;
  const account = isSqlite ? `'${accountId}'` : `'${accountId}'::uuid`;
  for (let from = 0; from < count; from += requestsAtOnce) {
    const last = Math.min(from + requestsAtOnce, count) - 1;
    await storage.orm.em.fork().execute(`insert into usage (request_id, run_id, account_id, key_id, model, input_tokens,
        output_tokens, cost, shortfall, status, settled_at)
      with recursive r(n) as (select ${from} union all select n + 1 from r where n < ${last})
      select 'req_' || n, ${runId}, ${account}, '', 'a-model', 900, 300, 255000000, 0, 'completed',
        ${isSqlite ? ms : `to_timestamp((${ms}) / 1000.0)`} from r`);
  }
}
