import { ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import { Setting } from "#src/storage/entities/setting.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import type { Fleet } from "./interface.ts";

/** Milliseconds between two reads of what other cores drained and resumed. */
const readMs = 1_000;
const prefix = "drained ";

interface Dependencies {
  readonly storage: Storage;
  readonly fleet: Pick<Fleet, "servers" | "drain" | "resume">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Drained servers, kept in the database: for all cores, and across restarts. */
export class KeptDrains {
  readonly #parts: Dependencies;
  /** Counts the changes made here, so that a read that began before a change ended is ignored. */
  #changes = 0;
  /** The changes that are being stored. */
  #pending = 0;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Stores that an operator drained or resumed a server. */
  async keep(serverId: string, isDraining: boolean): Promise<void> {
    this.#pending++;
    const name = prefix + serverId;
    try {
      await inTransaction(this.#parts.storage, async (em) => {
        await em.nativeDelete(Setting, { name });
        if (isDraining) {
          await em.insert(Setting, { name, value: "" });
        }
      });
    } finally {
      this.#pending--;
      this.#changes++;
    }
  }

  /** Drains and resumes servers as the database says. */
  async apply(): Promise<void> {
    const changes = this.#changes;
    const drained = await readDrained(this.#parts.storage);
    if (this.#pending === 0 && changes === this.#changes) {
      this.#set(new Set(drained));
    }
  }

  #set(drained: ReadonlySet<string>): void {
    const { fleet } = this.#parts;
    for (const { id, state } of fleet.servers()) {
      const isDraining = state === ServerState.DRAINING;
      if (drained.has(id) && !isDraining) {
        fleet.drain(id);
      } else if (!drained.has(id) && isDraining) {
        fleet.resume(id);
      }
    }
  }

  /** Applies the database's drains repeatedly. Returns the function that stops it. */
  follow(): () => void {
    const { clock, logger } = this.#parts;
    return repeat(clock, readMs, logger, "read the drained servers", () => this.apply());
  }
}

/** Reads the ids of drained servers from a database. */
async function readDrained(storage: Storage): Promise<string[]> {
  const found = await storage.orm.em
    .fork()
    .find(Setting, { name: { $like: `${prefix}%` } }, { orderBy: { name: "asc" } });
  return found.map(({ name }) => name.slice(prefix.length));
}
