import { ServerState } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Logger } from "../../lib/logger.ts";
import type { Clock } from "../../lib/time/clock.ts";
import { repeat } from "../../lib/time/repeat.ts";
import { Setting } from "../storage/entities/setting.ts";
import type { Storage } from "../storage/orm.ts";
import { inTransaction } from "../storage/transaction.ts";
import type { Fleet } from "./interface.ts";

/** How often a core looks at what the others drain and resume, in milliseconds. */
const readMs = 1_000;
const prefix = "drained ";

/** Dependencies. */
export interface KeptDrainsParts {
  readonly storage: Storage;
  readonly fleet: Pick<Fleet, "servers" | "drain" | "resume">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Drained servers as the database has them: for all cores, and after a restart. */
export class KeptDrains {
  readonly #parts: KeptDrainsParts;
  /** Counts the changes made here, so that what was read before one is not believed after it. */
  #changes = 0;

  constructor(parts: KeptDrainsParts) {
    this.#parts = parts;
  }

  /** Remembers an operator's word for a server. */
  async keep(serverId: string, isDraining: boolean): Promise<void> {
    this.#changes += 1;
    const name = prefix + serverId;
    await inTransaction(this.#parts.storage, async (em) => {
      await em.nativeDelete(Setting, { name });
      if (isDraining) {
        await em.insert(Setting, { name, value: "" });
      }
    });
    this.#changes += 1;
  }

  /** Another process of this core has changed something, and the database says so already. */
  heard(): void {
    this.#changes += 1;
  }

  /** Drains and resumes servers as the database says. */
  async apply(): Promise<void> {
    const { storage, fleet } = this.#parts;
    const changes = this.#changes;
    const kept = await storage.orm.em.fork().find(Setting, { name: { $like: `${prefix}%` } });
    if (changes !== this.#changes) {
      return;
    }
    const drained = new Set(kept.map(({ name }) => name.slice(prefix.length)));
    for (const { id, state } of fleet.servers()) {
      const isDraining = state === ServerState.DRAINING;
      if (drained.has(id) && !isDraining) {
        fleet.drain(id);
      } else if (!drained.has(id) && isDraining) {
        fleet.resume(id);
      }
    }
  }

  /** Looks again and again. Returns the function that ends it. */
  follow(): () => void {
    const { clock, logger } = this.#parts;
    return repeat(clock, readMs, logger, "read the drained servers", () => this.apply());
  }
}
