import { memorySnapshot } from "#src/storage/reads/snapshot.ts";
import type { SqliteStorage } from "#src/storage/storage.ts";
import type { Dice } from "../world/dice.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { SimulatedServer } from "./server.ts";
import { overWire } from "./storage.ts";

/** Milliseconds that an access to the file takes. */
const diskMs = 0.3;

/**
 * The connection to a database that is a file of the process itself. Nothing is lost on it, and requests of dead
 * processes are never executed. A process may die between an execution and its answer.
 */
class LocalWay {
  readonly #timeline: Timeline;
  readonly #process: SimulatedProcess;
  readonly #dice: Dice;

  constructor(timeline: Timeline, process: SimulatedProcess, dice: Dice) {
    this.#timeline = timeline;
    this.#process = process;
    this.#dice = dice;
  }

  call<T>(_name: string, run: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const answer = (give: () => void) => {
        if (this.#process.act()) {
          give();
        }
      };
      const arrive = () => {
        if (this.#process.act()) {
          const done = (async () => run())();
          this.#timeline.finish(
            done.then(
              (value) => answer(() => resolve(value)),
              (error: unknown) => answer(() => reject(error)),
            ),
          );
        }
      };
      this.#timeline.after(this.#dice.exponential(diskMs), () => this.#process.reach(arrive));
    });
  }
}

/** The database as its only process sees it: the real SQLite, with the product's own statements. */
export function localStorage(
  server: SimulatedServer,
  parts: { readonly timeline: Timeline; readonly process: SimulatedProcess; readonly dice: Dice },
): SqliteStorage {
  const way = new LocalWay(parts.timeline, parts.process, parts.dice);
  return {
    dialect: "sqlite",
    path: ":memory:",
    files: undefined,
    orm: { em: { fork: () => overWire(server.storage.orm.em.fork(), way, server) } },
    snapshot: () => way.call("snapshot", () => memorySnapshot(server.database)),
    exclusive: <T>(run: (database: typeof server.database) => T) => way.call("exclusive", () => run(server.database)),
    close: async () => {},
  } as never;
}
