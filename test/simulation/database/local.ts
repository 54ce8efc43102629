import type { SqliteStorage } from "../../../src/storage/orm.ts";
import { memorySnapshot } from "../../../src/storage/snapshot.ts";
import type { Dice } from "../world/dice.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";
import type { SimulatedServer } from "./server.ts";
import { overWire } from "./storage.ts";

/** How long a look into the file takes, in milliseconds. */
const diskMs = 0.3;

/**
 * The way to a database that is a file of the process itself: nothing is lost on it, and what the dead have asked for is never
 * done. A process may die between what was done and its answer.
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

/** The database as the one process that has it sees it: the real SQLite, by the product's own statements. */
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
