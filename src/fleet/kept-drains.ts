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
  /** Further databases that are there. They are told, so that a core that starts while `storage` is away knows. */
  readonly copies: () => readonly Storage[];
  readonly fleet: Pick<Fleet, "servers" | "drain" | "resume">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Drained servers as the database has them: for all cores, and after a restart. */
export class KeptDrains {
  readonly #parts: KeptDrainsParts;
  /** Counts the changes made here, so that what was read before one is not believed after it. */
  #changes = 0;
  /** Whether the database itself was read since the start. */
  #isKnown = false;
  /** What each copy was told last. */
  readonly #told = new WeakMap<Storage, string>();

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

  /**
   * Drains and resumes servers as the database says. Until it has been there, what any of the copies says is drained, as one may
   * have missed the latest: it is better to leave a server out for too long than to send requests to one that is taken apart.
   */
  async apply(): Promise<void> {
    const { storage, copies } = this.#parts;
    const changes = this.#changes;
    try {
      const drained = await readDrained(storage);
      this.#isKnown = true;
      if (changes === this.#changes) {
        this.#set(new Set(drained));
        await Promise.allSettled(copies().map((copy) => this.#tell(copy, drained)));
      }
    } catch (error) {
      const read = this.#isKnown ? [] : await Promise.allSettled(copies().map(readDrained));
      const found = read.flatMap((copy) => (copy.status === "fulfilled" ? [copy.value] : []));
      if (found.length === 0) {
        throw error;
      }
      this.#set(new Set(found.flat()));
    }
  }

  async #tell(copy: Storage, drained: readonly string[]): Promise<void> {
    const told = JSON.stringify(drained);
    if (this.#told.get(copy) === told) {
      return;
    }
    await inTransaction(copy, async (em) => {
      await em.nativeDelete(Setting, { name: { $like: `${prefix}%` } });
      for (const server of drained) {
        await em.upsert(Setting, { name: prefix + server, value: "" });
      }
    });
    this.#told.set(copy, told);
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

  /** Looks again and again. Returns the function that ends it. */
  follow(): () => void {
    const { clock, logger } = this.#parts;
    return repeat(clock, readMs, logger, "read the drained servers", () => this.apply());
  }
}

/** The ids of drained servers, as a database has them. */
async function readDrained(storage: Storage): Promise<string[]> {
  const found = await storage.orm.em
    .fork()
    .find(Setting, { name: { $like: `${prefix}%` } }, { orderBy: { name: "asc" } });
  return found.map(({ name }) => name.slice(prefix.length));
}
