import { afterEach, expect } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../../lib/errors/detail.ts";
import { systemRandom } from "../../../lib/ids/random.ts";
import { markRandom } from "../../../lib/ids/shard.ts";
import { systemClock } from "../../../lib/time/clock.ts";
import { Claims } from "../../../src/compose/shards/claims.ts";
import { routeFunds } from "../../../src/compose/shards/funds.ts";
import { routeLedger } from "../../../src/compose/shards/ledger.ts";
import { Moves } from "../../../src/compose/shards/moves/moves.ts";
import { Places } from "../../../src/compose/shards/moves/places.ts";
import { proveMoves } from "../../../src/compose/shards/moves/prove-moves.ts";
import type { Shard } from "../../../src/compose/shards/open-shards.ts";
import { Shards } from "../../../src/compose/shards/shards.ts";
import { reconcile } from "../../../src/metering/books/proof/reconcile.ts";
import { Usage } from "../../../src/storage/entities/metering/usage.ts";
import { databases } from "../../metering/databases.ts";
import { type Metering, models, openMetering, request, run, usd } from "../../metering/fixture.ts";
import { eventually } from "../../support/eventually.ts";

const newDatabase = databases();
/** Longer than any request of a test runs. */
export const pauseMs = 60_000;
/** What a request of a test uses. */
export const tokens = { inputTokens: 1000, outputTokens: 1000 };

/** One core on both databases: two real ones of PostgreSQL. */
export interface Core {
  readonly parts: readonly [Metering, Metering];
  readonly shards: Shards<Shard>;
  readonly moves: Moves;
  readonly ledger: ReturnType<typeof routeLedger>;
  readonly funds: ReturnType<typeof routeFunds>;
}

const opened: Metering[] = [];
const cores: Core[] = [];

afterEach(async () => {
  for (const { shards } of cores.splice(0)) {
    await shards.stop();
  }
  for (const metering of opened.splice(0)) {
    await metering.close();
  }
}, 60_000);

/** Two new databases. */
export const newUrls = async () => [await newDatabase("postgresql"), await newDatabase("postgresql")] as const;

/** Starts a core, which looks after moves by itself unless the test does. */
export async function openCore(urls: readonly [string, string], attends = true): Promise<Core> {
  const log: string[] = [];
  const parts = [await open(urls[0], log), await open(urls[1], log)] as const;
  const [first, second] = parts.map((part, number) => toShard(part, number)) as [Shard, Shard];
  const places = new Places(systemClock);
  const shards = new Shards<Shard>(first, 2, places);
  shards.add(1, second);
  const moves = new Moves(shards, places, first.foundation);
  await (attends ? moves.start() : moves.look());
  const claims = new Claims(parts[0].storage, () => [parts[1].storage], systemClock);
  const core = { parts, shards, moves, ledger: routeLedger(shards, moves), funds: routeFunds(shards, claims, moves) };
  cores.push(core);
  return core;
}

async function open(url: string, log: string[]): Promise<Metering> {
  const metering = await openMetering({ url, clock: systemClock, log, models: models({ id: "other" }) });
  opened.push(metering);
  return metering;
}

function toShard({ storage, time, ledger, funds, prices, store }: Metering, number: number): Shard {
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const foundation = { storage, clock: time, random: markRandom(systemRandom, number), logger };
  return { foundation, books: { ledger, funds, prices, store, announcements: store } } as unknown as Shard;
}

/** A request, which a core that is asked in a bad moment may refuse for a while. */
export async function spend({ ledger }: Core, accountId: string, more = {}): Promise<void> {
  await eventually("a request is run", async () => {
    try {
      await run(ledger, request(accountId, tokens, more));
      return true;
    } catch (error) {
      expect(readDetail(error)?.reason).toBe(Reason.LEDGER_UNAVAILABLE);
      return false;
    }
  });
}

/** The books of both databases and what is between them. Returns the money of an account in both, and what it has spent. */
export async function prove({ parts }: Core, accountId: string) {
  const proofs = await Promise.all(parts.map(({ storage }) => reconcile(storage)));
  expect(proofs.flatMap(({ findings }) => findings)).toEqual([]);
  expect(await proveMoves(parts.map(({ storage }) => storage))).toEqual([]);
  const statements = await Promise.all(parts.map(({ funds }) => funds.statements([accountId])));
  const balance = statements.reduce((sum, one) => sum + (one.get(accountId)?.balance ?? 0n), 0n);
  const receipts = await Promise.all(parts.map(({ storage }) => storage.orm.em.fork().find(Usage, { accountId })));
  const spent = receipts.flat().reduce((sum, { cost }) => sum + BigInt(cost), 0n);
  return { balance, spent, total: balance + spent, receipts: receipts.map(({ length }) => length) };
}

/** An account with 11 USD in the first database. */
export async function newAccount({ parts, funds }: Core): Promise<string> {
  const id = await parts[0].account({ free: usd });
  await funds.credit({ accountId: id, kind: "paid", amount: 10 * usd, reference: `paid ${id}` });
  return id;
}
