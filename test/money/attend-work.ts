import type { Pool } from "pg";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import type { Storage } from "#src/storage/storage.ts";
import type { ManualClock } from "../support/clocks/manual-clock.ts";

/** What the driver knows of its connections, those that are being made included, and does not declare. */
interface Connections {
  readonly _clients: readonly { readonly readyForQuery: boolean }[];
}

/** Has a test's clock stand still while a database works on what it was asked. Returns the store to ask. */
export function attendWork(clock: ManualClock, storage: Storage, store: LedgerStore): LedgerStore {
  if (storage.dialect === "postgresql") {
    attendPool(clock, storage.pool);
    return store;
  }
  let underway = 0;
  clock.attend(() => underway);
  return counting(store, (change) => {
    underway += change;
  });
}

/** Has a test's clock stand still while a server owes answers, or connections to it are made. */
export function attendPool(clock: ManualClock, pool: Pool): void {
  const connections = pool as unknown as Connections; // it makes a new list whenever one goes
  clock.attend(() => connections._clients.filter(({ readyForQuery }) => !readyForQuery).length + pool.waitingCount);
}

/**
 * The store, with its calls under way counted: a file's are done by a thread. What a test puts in place of a method is no work
 * of the database, and may itself wait for the clock.
 */
function counting(store: LedgerStore, count: (change: 1 | -1) => void): LedgerStore {
  const replaced = new Set<string | symbol>();
  const counted: LedgerStore = new Proxy(store, {
    set(target, name, value, receiver) {
      if (receiver === counted) {
        replaced.add(name);
      }
      return Reflect.set(target, name, value, receiver);
    },
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== "function" || replaced.has(name)) {
        return value;
      }
      return (...parameters: unknown[]) => {
        const answer: unknown = Reflect.apply(value, target, parameters);
        if (answer instanceof Promise) {
          count(1);
          const ended = () => count(-1);
          answer.then(ended, ended);
        }
        return answer;
      };
    },
  });
  return counted;
}
