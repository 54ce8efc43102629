import type { Interceptor } from "@connectrpc/connect";
import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { repeat } from "../../../lib/time/repeat.ts";
import { principalKey } from "../../interceptors/access/principal.ts";
import { unavailable } from "../../metering/ledger/unavailable.ts";
import type { Storage } from "../../storage/orm.ts";
import { readCount } from "../../storage/shard-mark.ts";

/** How often the first database is asked for the number of databases, in milliseconds. */
const lookMs = 2000;

/**
 * Notices that a service has got more databases than this core was started with. The core goes on serving the accounts
 * that it knows, and refuses calls that it might answer wrongly: those about a database that it does not know, and
 * operators' calls, which would get some accounts as if they were all.
 */
export class NewerDatabases {
  readonly #count: number;
  readonly #logger: Logger;
  #known: number;

  /** `count`: the number of databases that this core was started with. */
  constructor(count: number, logger: Logger) {
    this.#count = count;
    this.#known = count;
    this.#logger = logger;
  }

  /** Whether there are databases that this core does not know. */
  get areThere(): boolean {
    return this.#known > this.#count;
  }

  /** The refusal of calls that concern them. */
  refusal(): Error {
    return unavailable(
      `The service has ${this.#known} databases, and this core was started with ${this.#count}: start it with all of them.`,
    );
  }

  /** Checks at an interval. Returns the function that ends it. A SQLite file has no further databases. */
  watch(storage: Storage, clock: Clock): () => void {
    if (storage.dialect === "sqlite") {
      return () => {};
    }
    return repeat(clock, lookMs, this.#logger, "ask how many databases the service has", async () => {
      // While the first database is away nobody can have added one.
      const known = await readCount(storage).catch(() => this.#known);
      if (known > this.#count && known !== this.#known) {
        const facts = { databases: known, known: this.#count };
        this.#logger.error(facts, "the service has more databases than this core was started with");
      }
      this.#known = known;
    });
  }

  /** Refuses operators' calls while there are unknown databases. */
  readonly refuseOperators: Interceptor = (next) => (request) =>
    this.areThere && request.contextValues.get(principalKey)?.kind === "operator"
      ? Promise.reject(this.refusal())
      : next(request);
}
