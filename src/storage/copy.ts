import { type EntityName, IsolationLevel, ReferenceKind } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { entities } from "./entities/index.ts";
import { Slice } from "./entities/metering/slice.ts";
import type { Storage } from "./orm.ts";

/** Rows inserted at once; a statement of PostgreSQL takes 65,535 parameters. */
const pieceSize = 1000;

type Row = Record<string, unknown>;

/** The number of rows by table. */
export type RowCounts = Readonly<Record<string, number>>;

type OnProgress = (done: number, total: number) => void;

/**
 * Copies every table into an empty storage, in one transaction. Throws, and leaves the target as it was, when the
 * target has any row, or when the source was not stopped in order: charges in the journal of its last process can only
 * be settled by that process's next start. Calls `onProgress` after every piece with the number of rows copied, and of
 * all rows.
 */
export async function copyStorage(from: Storage, to: Storage, onProgress: OnProgress = () => {}): Promise<RowCounts> {
  const source = from.orm.em.fork();
  const unsettled = await source.count(Slice, { open: true });
  if (unsettled > 0) {
    throw new Error("the source was not stopped in order: start it once more and end it with SIGTERM");
  }
  return copyTables(from, source, to, onProgress);
}

/** The same of a source that may run, as it is at one moment: what its cores have leased is copied as leased. */
export async function copyMoment(from: Storage, to: Storage, onProgress: OnProgress = () => {}): Promise<RowCounts> {
  const isolationLevel = IsolationLevel.REPEATABLE_READ;
  const options = from.dialect === "postgresql" ? { isolationLevel, readOnly: true } : {};
  return from.orm.em
    .fork()
    .transactional((source) => copyTables(from, source as SqlEntityManager, to, onProgress), options);
}

async function copyTables(
  from: Storage,
  source: SqlEntityManager,
  to: Storage,
  onProgress: OnProgress,
): Promise<RowCounts> {
  let total = 0;
  for (const entity of entities as readonly unknown[] as readonly EntityName<Row>[]) {
    total += await source.count(entity);
  }
  let done = 0;
  return to.orm.em.fork().transactional(async (target) => {
    const counts: Record<string, number> = {};
    for (const entity of entities as readonly unknown[] as readonly EntityName<Row>[]) {
      const { properties, tableName } = from.orm.getMetadata().get(entity);
      if ((await target.count(entity)) > 0) {
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
        onProgress(done, total);
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

function readField(row: Row, field: string, embedded: [owner: string, name: string] | undefined): unknown {
  return embedded === undefined ? row[field] : (row[embedded[0]] as Row | undefined)?.[embedded[1]];
}
