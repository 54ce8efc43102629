import type { Pool, PoolClient } from "pg";
import { listDays } from "#src/storage/postgresql/days.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { SimulatedServer } from "./server.ts";
import { broken, type Wire } from "./wire.ts";

/** Receives the server's notifications, one for each process. */
export interface Ear {
  hear(payload: string): void;
  broke(): void;
}

/** Tables of a day after all runs: each of them has its place. */
const lastDay = ["usage_99991231", "usage_line_99991231"].map((name) => ({ name, attached: true }));

interface Query {
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** The connections of one process to the simulated server, in the driver's form. */
export function simulatedPool(parts: {
  readonly timeline: Timeline;
  readonly process: SimulatedProcess;
  readonly wire: Wire;
  readonly server: SimulatedServer;
  readonly ears: Set<Ear>;
}): Pool {
  const { timeline, process, wire, server, ears } = parts;
  const toResult = (rows: readonly object[]) => ({ rows, rowCount: rows.length });

  const announce = (payload: string) => {
    for (const ear of ears) {
      timeline.after(1, () => ears.has(ear) && ear.hear(payload));
    }
  };
  const query = ({ name, text, values = [] }: Query) => {
    if (name === listDays.name) {
      return Promise.resolve(toResult(lastDay)); // a matter of the real server alone
    }
    return wire.call(name ?? text, () => {
      if (name !== undefined) {
        return toResult(server.execute(name, text, values));
      }
      if (text.startsWith("select pg_notify")) {
        announce(String(values[1]));
        return toResult([]);
      }
      if (text.includes("extract(epoch from now())")) {
        return toResult([{ now: server.now() }]);
      }
      throw new Error(`the simulation does not know the statement ${text}`);
    });
  };

  const connect = () => {
    const listeners = new Map<string, (...values: never[]) => void>();
    const ear: Ear = {
      hear: (payload) => process.reach(() => listeners.get("notification")?.({ payload } as never)),
      broke: () => process.reach(() => listeners.get("error")?.(new Error("the connection broke") as never)),
    };
    let isClosed = false;
    const close = () => {
      isClosed = true;
      ears.delete(ear);
    };
    process.onDeath(close);
    const client = {
      on: (event: string, listener: (...values: never[]) => void) => void listeners.set(event, listener),
      release: close,
      query(asked: string | Query): Promise<unknown> {
        const text = typeof asked === "string" ? asked : asked.text;
        if (text.startsWith("begin")) {
          return wire.begin(() => server.begin());
        }
        if (text === "commit") {
          return wire.commit(() => server.commit());
        }
        if (text.startsWith("listen")) {
          return wire.call("listen", () => void (isClosed || ears.add(ear))); // the reply may come late
        }
        if (text === "select 1") {
          return wire.call("ask", () => {
            if (!ears.has(ear)) {
              ear.broke();
            }
          });
        }
        const { name = text, values = [] } = asked as Query; // every statement in a transaction has a name
        return new Promise((resolve, reject) => {
          if (process.act()) {
            try {
              const rows = server.execute(name, text, values);
              if (wire.loses(name)) {
                server.rollback(); // the connection is gone, and its transaction with it
                throw broken();
              }
              resolve(toResult(rows));
            } catch (error) {
              reject(error);
            }
          }
        });
      },
    };
    return Promise.resolve(client as unknown as PoolClient);
  };

  const pool = {
    totalCount: 1, // the store distinguishes a pool from a client by this
    query: (first: string | Query, values?: unknown[]) =>
      query(typeof first === "string" ? { text: first, ...(values === undefined ? {} : { values }) } : first),
    connect,
    end: async () => {},
  };
  return pool as unknown as Pool;
}
