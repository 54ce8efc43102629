import { type StreamUsageRequest, UsageGroup } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import type { UsageRow } from "#gen/tollgate/metering/v1/usage_pb.js";
import type { Storage } from "../../../storage/orm.ts";
import { streamUsage } from "./usage.ts";

const mostInt64 = 2n ** 63n - 1n;

/**
 * Yields the usage of several databases as one database would: a row for each group, in the order of the groups. Rows
 * are added up account by account or key by key. When rows are grouped by neither, or are of one account, all rows are
 * added up at once. `haveMoved`: whether an account may have usage in more than one of the databases.
 */
export async function* addUsage(
  storages: readonly Storage[],
  request: StreamUsageRequest,
  haveMoved = true,
): AsyncGenerator<UsageRow[]> {
  const [only] = storages;
  if (only !== undefined && storages.length === 1) {
    yield* streamUsage(only, request);
    return;
  }
  const lead = readLead(request);
  // The dearest of sums that are spread over several databases are known only when all of them are added up.
  const asked = lead === byAccount && !haveMoved ? request : { ...request, dearest: 0 };
  const streams = storages.map((storage) => streamUsage(storage, asked));
  const groups = lead === undefined ? together(streams) : inOrder(streams, lead);
  if (request.dearest === 0) {
    yield* groups;
    return;
  }
  const dearest: UsageRow[] = [];
  // Each database yields its dearest rows first, and an account is in only one of them.
  for await (const rows of asked === request ? chain(streams) : groups) {
    dearest.push(...rows);
    keepDearest(dearest, request.dearest);
  }
  yield dearest;
}

type Lead = (row: UsageRow) => string;

const byAccount: Lead = ({ accountId }) => accountId;
const byKey: Lead = ({ keyId }) => keyId;

/** The id that every database orders its rows by. Undefined: they are ordered by names, or all are of one account. */
function readLead({ accountId, groupBy }: StreamUsageRequest): Lead | undefined {
  if (accountId !== "") {
    return undefined;
  }
  if (groupBy.length === 0 || groupBy.includes(UsageGroup.ACCOUNT)) {
    return byAccount;
  }
  return groupBy.includes(UsageGroup.KEY) ? byKey : undefined;
}

async function* chain(streams: readonly AsyncGenerator<UsageRow[]>[]): AsyncGenerator<UsageRow[]> {
  for (const stream of streams) {
    yield* stream;
  }
}

/** Adds up all rows, one database after the other. */
async function* together(streams: readonly AsyncGenerator<UsageRow[]>[]): AsyncGenerator<UsageRow[]> {
  const sums = new Sums();
  for await (const rows of chain(streams)) {
    for (const row of rows) {
      sums.add(row);
    }
  }
  yield sums.take();
}

/** Adds up the rows of one account or key after the other. */
async function* inOrder(streams: readonly AsyncGenerator<UsageRow[]>[], lead: Lead): AsyncGenerator<UsageRow[]> {
  const readers = streams.map((stream) => new RowReader(stream));
  try {
    // In this order, so that a query that waits for one database's snapshot already has those of the databases before
    // it.
    for (const reader of readers) {
      await reader.fill();
    }
    const sums = new Sums();
    for (let piece: UsageRow[] = []; ; ) {
      const [next] = readers.flatMap(({ row }) => (row === undefined ? [] : [lead(row)])).sort();
      if (next === undefined) {
        yield piece;
        return;
      }
      for (const reader of readers) {
        for (; reader.row !== undefined && lead(reader.row) === next; await reader.step()) {
          sums.add(reader.row);
        }
      }
      piece.push(...sums.take());
      if (piece.length >= pieceSize) {
        yield piece;
        piece = [];
      }
    }
  } finally {
    await Promise.allSettled(streams.map((stream) => stream.return(undefined)));
  }
}

/** Approximate number of rows in one piece of an answer. */
const pieceSize = 100;

/** Reads one database's rows. */
class RowReader {
  readonly #pieces: AsyncGenerator<UsageRow[]>;
  #rows: readonly UsageRow[] = [];
  #at = 0;

  constructor(pieces: AsyncGenerator<UsageRow[]>) {
    this.#pieces = pieces;
  }

  /** The current row. Undefined: all rows were read. */
  get row(): UsageRow | undefined {
    return this.#rows[this.#at];
  }

  /** Moves to the next row. Returns a promise only when the next piece has to be read. */
  step(): Promise<void> | undefined {
    this.#at++;
    return this.#at < this.#rows.length ? undefined : this.fill();
  }

  /** Reads the next piece that has rows. */
  async fill(): Promise<void> {
    this.#at = 0;
    do {
      const { value, done } = await this.#pieces.next();
      this.#rows = value ?? [];
      if (done) {
        return;
      }
    } while (this.#rows.length === 0);
  }
}

/** Adds up rows of the same group. */
class Sums {
  #sums = new Map<string, UsageRow>();

  add(row: UsageRow): void {
    const group = toGroup(row);
    this.#sums.set(group, add(this.#sums.get(group), row));
  }

  /** Returns the sums so far, in the order of their groups, and begins anew. */
  take(): UsageRow[] {
    const rows = [...this.#sums.values()];
    this.#sums = new Map();
    return rows.length === 1 ? rows : rows.sort(byGroups);
  }
}

function add(sum: UsageRow | undefined, row: UsageRow): UsageRow {
  if (sum === undefined) {
    return row;
  }
  const cost = readCost(sum) + readCost(row);
  return {
    ...row,
    requests: sum.requests + row.requests,
    inputTokens: sum.inputTokens + row.inputTokens,
    outputTokens: sum.outputTokens + row.outputTokens,
    costPicoUsd: cost < mostInt64 ? cost : mostInt64,
    totalCostPicoUsd: String(cost),
  };
}

/** Keeps at most `most` rows, those that cost most, dearest first. */
function keepDearest(rows: UsageRow[], most: number): void {
  rows.sort((one, other) => {
    const [a, b] = [readCost(one), readCost(other)];
    return a === b ? byGroups(one, other) : a < b ? 1 : -1;
  });
  rows.length = Math.min(rows.length, most);
}

function readCost({ totalCostPicoUsd }: UsageRow): bigint {
  return BigInt(totalCostPicoUsd);
}

function toGroup({ accountId, keyId, model, day, hour }: UsageRow): string {
  return [accountId, keyId, model, day, hour].join("\0");
}

function byGroups(one: UsageRow, other: UsageRow): number {
  return toGroup(one) < toGroup(other) ? -1 : 1;
}
