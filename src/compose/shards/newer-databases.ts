import type { Interceptor } from "@connectrpc/connect";
import type { Logger } from "../../../lib/logger.ts";
import type { Clock } from "../../../lib/time/clock.ts";
import { repeat } from "../../../lib/time/repeat.ts";
import { principalKey } from "../../interceptors/access/principal.ts";
import { unavailable } from "../../metering/ledger/unavailable.ts";
import type { Storage } from "../../storage/orm.ts";
import { readCount } from "../../storage/shard-mark.ts";

/** How often the first database is asked how many there are. */
const lookMs = 2000;

/**
 * Sees that a service has got more databases than this core was started with. It goes on to serve the accounts that it knows, and
 * refuses what it could answer wrongly: what is of a database that it does not know, and operators, who would be told of some
 * accounts as if they were all.
 */
export class NewerDatabases {
  readonly #count: number;
  readonly #logger: Logger;
  #known: number;

  /** `count`: the databases that this core was started with. */
  constructor(count: number, logger: Logger) {
    this.#count = count;
    this.#known = count;
    this.#logger = logger;
  }

  /** Whether there are databases that this core does not know. */
  get areThere(): boolean {
    return this.#known > this.#count;
  }

  /** The refusal of what they would be asked for. */
  refusal(): Error {
    return unavailable(
      `The service has ${this.#known} databases, and this core was started with ${this.#count}: start it with all of them.`,
    );
  }

  /** Looks again and again. Returns the function that ends it. A file has no others. */
  watch(storage: Storage, clock: Clock): () => void {
    if (storage.dialect === "sqlite") {
      return () => {};
    }
    return repeat(clock, lookMs, this.#logger, "ask how many databases the service has", async () => {
      // While it is away nobody can have added one.
      const known = await readCount(storage).catch(() => this.#known);
      if (known > this.#count && known !== this.#known) {
        const facts = { databases: known, known: this.#count };
        this.#logger.error(facts, "the service has more databases than this core was started with");
      }
      this.#known = known;
    });
  }

  /** Refuses operators' calls while there are some. */
  readonly refuseOperators: Interceptor = (next) => (request) =>
    this.areThere && request.contextValues.get(principalKey)?.kind === "operator"
      ? Promise.reject(this.refusal())
      : next(request);
}
