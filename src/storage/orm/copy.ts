import { type EntityName, IsolationLevel, ReferenceKind } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { entities } from "../entities/index.ts";
import { Slice } from "../entities/metering/slice.ts";
import { Usage } from "../entities/metering/usage.ts";
import { dayOfRun, makeDays } from "../postgresql/days.ts";
import { keepDays } from "../reads/snapshot.ts";
import type { Storage } from "../storage.ts";

/** Rows inserted at once; a statement of PostgreSQL takes 65,535 parameters. */
const pieceSize = 1000;

type Row = Record<string, unknown>;

const tables = entities as readonly unknown[] as readonly EntityName<Row>[];

/** The number of rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

type OnProgress = (done: number, total: number) => void;

/**
 * Copies every table into an empty storage, in one transaction. Throws, and leaves the target as it was, when the
 * target has any row, or when the source was not stopped in order: charges in the journal of its last process can only
 * be settled by that process's next start. Calls `onProgress` after every piece with the number of rows copied, and of
 * all rows, which may become more meanwhile. PostgreSQL gets the tables of the receipts' days first.
 */
export async function copyStorage(from: Storage, to: Storage, onProgress: OnProgress = () => {}): Promise<RowCounts> {
  const source = from.orm.em.fork();
  const unsettled = await source.count(Slice, { open: true });
  if (unsettled > 0) {
    throw new Error("the source was not stopped in order: start it once more and end it with SIGTERM");
  }
  const total = await countRows(from);
  return copyTables(from, source, to, (done) => onProgress(done, Math.max(done, total)));
}

/** The same of a source that may run, as it is at one moment: what its cores have leased is copied as leased. */
export async function copyMoment(from: Storage, to: Storage, onProgress: OnProgress = () => {}): Promise<RowCounts> {
  const isolationLevel = IsolationLevel.REPEATABLE_READ;
  const options = from.dialect === "postgresql" ? { isolationLevel, readOnly: true } : {};
  const total = await countRows(from);
  return from.orm.em.fork().transactional(async (em) => {
    const source = em as SqlEntityManager;
    if (from.dialect === "postgresql") {
      await source.execute(keepDays); // before the first look, which makes the moment
    }
    return copyTables(from, source, to, (done) => onProgress(done, Math.max(done, total)));
  }, options);
}

async function copyTables(
  from: Storage,
  source: SqlEntityManager,
  to: Storage,
  onProgress: (done: number) => void,
): Promise<RowCounts> {
  if (to.dialect === "postgresql" && !(await hasRows(to.orm.em.fork(), Usage))) {
    await makeDays(to.pool, await daysOf(from));
  }
  let done = 0;
  return to.orm.em.fork().transactional(async (target) => {
    const counts: Record<string, number> = {};
    for (const entity of tables) {
      const { properties, tableName } = from.orm.getMetadata().get(entity);
      if (await hasRows(target, entity)) {
        throw new Error(`the target is in use: its table ${tableName} has rows`);
      }
      const fields = Object.entries(properties).filter(([, { kind }]) => kind !== ReferenceKind.EMBEDDED);
      let piece: Row[] = [];
      let count = 0;
      const insert = async () => {
        if (piece.length > 0) {
          await target.insertMany(entity, piece);
        }
        count += piece.length;
        done += piece.length;
        onProgress(done);
        piece = [];
      };
      for await (const row of source.stream(entity)) {
        // The row's values, without what the ORM attaches to it; those of an embedded value one by one, as columns.
        piece.push(Object.fromEntries(fields.map(([field, { embedded }]) => [field, readField(row, field, embedded)])));
        if (piece.length === pieceSize) {
          await insert();
        }
      }
      await insert();
      counts[tableName] = count;
    }
    if (to.dialect === "postgresql") {
      // The database counts on behind the rows that brought their numbers along.
      await target.execute(
        "select setval(pg_get_serial_sequence('request_record', 'id'), (select coalesce(max(id), 1) from request_record))",
      );
    }
    return counts;
  });
}

async function hasRows<Entity extends object>(em: SqlEntityManager, entity: EntityName<Entity>): Promise<boolean> {
  return (await em.find(entity, {}, { limit: 1 })).length > 0;
}

/** The number of all rows, for the progress alone. Counted in a snapshot, where a statement may take long. */
async function countRows({ orm, snapshot: open }: Storage): Promise<number> {
  const snapshot = await open("tables");
  try {
    let total = 0;
    for (const entity of tables) {
      const { tableName } = orm.getMetadata().get(entity);
      const [row] = await snapshot.few(`select count(*) as rows from "${tableName}"`);
      total += Number(row?.rows);
    }
    return total;
  } finally {
    await snapshot.close();
  }
}

/** Days that a run's id may name; another one tells nothing, and its receipt has its place all the same. */
const firstDay = Date.UTC(2020, 0, 1) / 86_400_000;
const daysAhead = 7;

/**
 * The days of receipts, by the ids of their runs. The first eight of their digits tell the time to 66 seconds, so that there
 * are few of them. Read in a snapshot: it looks at every receipt.
 */
async function daysOf({ snapshot: open }: Storage): Promise<number[]> {
  const snapshot = await open("tables");
  const days = new Set<number>();
  const last = Math.floor(Date.now() / 86_400_000) + daysAhead;
  try {
    const starts = snapshot.rows(
      "select distinct substr(cast(run_id as text), 1, 8) as start from usage where substr(cast(run_id as text), 15, 1) = '7'",
    );
    for await (const rows of starts) {
      for (const day of rows.flatMap(({ start }) => ["0000", "ffff"].map((rest) => dayOfRun(`${start}-${rest}-7`)))) {
        if (day !== undefined && day >= firstDay && day <= last) {
          days.add(day);
        }
      }
    }
  } finally {
    await snapshot.close();
  }
  return [...days];
}

function readField(row: Row, field: string, embedded: [owner: string, name: string] | undefined): unknown {
  return embedded === undefined ? row[field] : (row[embedded[0]] as Row | undefined)?.[embedded[1]];
}
