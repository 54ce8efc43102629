import type { Pool } from "pg";
import { amongSliceSeals } from "#src/money/books/proof/near-slices.ts";
import { monthOf } from "#src/money/books/proof/rules/budget-rules.ts";
import { amongNearSeals, linesOfReceipts } from "#src/money/books/proof/scope.ts";
import { hourOf, msOf } from "#src/money/store/rollups.ts";
import { memorySnapshot } from "#src/storage/reads/snapshot.ts";
import type { PostgresqlStorage, Storage } from "#src/storage/storage.ts";
import type { SimulatedServer } from "./server.ts";
import type { Wire } from "./wire.ts";

/** Methods of the ORM's entity manager that query the database. */
const asking: ReadonlySet<string | symbol> = new Set([
  "transactional",
  "execute",
  "find",
  "findOne",
  "findOneOrFail",
  "count",
  "upsert",
  "nativeDelete",
  "nativeUpdate",
]);

type Functions = Record<string | symbol, (...parameters: unknown[]) => unknown>;

/** Translates PostgreSQL's own syntax for SQLite. */
function translate(sql: string, now: number): string {
  return sql
    .replaceAll("core.heartbeat_at::text", "cast(core.heartbeat_at as text)")
    .replaceAll("now() - interval '10 minutes'", String(now - 600_000))
    .replaceAll(hourOf.postgresql("settled_at"), hourOf.sqlite("settled_at"))
    .replaceAll(msOf.postgresql("settled_at"), msOf.sqlite("settled_at"))
    .replaceAll(monthOf.postgresql, monthOf.sqlite)
    .replaceAll(linesOfReceipts.postgresql, linesOfReceipts.sqlite)
    .replaceAll(amongNearSeals.postgresql, amongNearSeals.sqlite)
    .replaceAll(amongSliceSeals.postgresql, amongSliceSeals.sqlite)
    .replaceAll(/to_timestamp\((\d+)::float8 \/ 1000\)/g, "$1");
}

/** The entity manager of a transaction. SQLite locks the whole database and needs no table locks. */
function inTransaction(em: object): object {
  return new Proxy(em, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name === "execute") {
        return (sql: string, ...more: unknown[]) =>
          /^(lock table|set local) /.test(sql)
            ? Promise.resolve([])
            : (value as Functions[string]).call(target, sql, ...more);
      }
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Entity managers whose calls all go over the wire. A transaction is executed as a whole on arrival. */
export function overWire(em: object, wire: Pick<Wire, "call">, server: SimulatedServer): object {
  return new Proxy(em, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function" || !asking.has(name)) {
        return typeof value === "function" ? value.bind(target) : value;
      }
      return (...parameters: unknown[]) => {
        const [run, ...more] = parameters;
        const other = name === "execute" && server.findOther(String(run));
        if (other) {
          return wire.call("orm execute", () => other(server.tables, more));
        }
        const given =
          name === "transactional"
            ? [(inner: object) => (run as Functions[string])(inTransaction(inner)), ...more]
            : parameters;
        return wire.call(`orm ${String(name)}`, () => value.apply(target, given) as Promise<unknown>);
      };
    },
  });
}

/** The database as one process sees it: remote, and apparently PostgreSQL, which tells its timeline or does not. */
export function simulatedStorage(
  server: SimulatedServer,
  wire: Wire,
  pool: Pool,
  tellsTimeline: boolean,
): PostgresqlStorage {
  const fork = () => overWire(server.storage.orm.em.fork(), wire, server);
  const snapshot = () =>
    wire.call("snapshot", () => {
      const { rows, few, close } = memorySnapshot(server.database);
      return {
        rows: (sql: string, parameters?: readonly unknown[]) => rows(translate(sql, server.now()), parameters),
        few: (sql: string, parameters?: readonly unknown[]) => few(translate(sql, server.now()), parameters),
        close,
      };
    });
  return {
    dialect: "postgresql",
    pool,
    pooled: false,
    history: {
      get timeline() {
        return tellsTimeline ? server.timeline : undefined;
      },
      get turns() {
        return tellsTimeline ? server.timeline : 0;
      },
    },
    orm: { em: { fork } },
    snapshot,
    close: async () => {},
  } as never;
}

/**
 * The database as judges see it: without delay, and without a dialect. The rules of the dialects assume a real server's
 * time, or the single core of a file.
 */
export function judgesStorage(server: SimulatedServer): Storage {
  return { ...server.storage, dialect: "simulated" as never };
}
