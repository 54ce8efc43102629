import type { Server } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { repeat } from "#lib/time/repeat.ts";
import type { JudgedClock } from "#src/storage/database-clock.ts";
import { findFleetTroubles } from "./fleet-troubles.ts";
import { kinds, type Trouble } from "./trouble.ts";

export interface Dependencies {
  readonly models: () => readonly { readonly id: string }[];
  readonly servers: () => readonly Server[];
  /** When the books were last proved, and with what result. Undefined: never. */
  readonly lastProof: () => { readonly at: number; readonly ok: boolean } | undefined;
  /** Whether the ledger takes requests. */
  readonly admits: () => boolean;
  /** What the database tells of things left undone. */
  readonly findStored: (now: number) => Promise<readonly Trouble[]>;
  /** What the machine tells. */
  readonly findOnMachine: (now: number) => Promise<readonly Trouble[]>;
  readonly clock: Clock & Pick<JudgedClock, "agrees">;
  readonly logger: Logger;
}

/** A trouble with the time when it began. */
export type DatedTrouble = Trouble & { readonly since: number };

const everyMs = 1000;
/** Looks between two questions to the database and to the machine. */
const storedLooks = 5;
/** Books are proved once an hour; older proofs mean that it no longer happens. */
const oldProofMs = 3 * 3_600_000;

/** What is wrong at the moment, and since when. */
export class Status {
  readonly #parts: Dependencies;
  /** When each trouble that is still there was first seen. */
  #seen = new Map<string, number>();
  #stored: readonly Trouble[] = [];
  #onMachine: readonly Trouble[] = [];
  #looks = 0;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** Looks once a second, so that a trouble's beginning is known. Returns the function that ends it. */
  start(): () => void {
    const { clock, logger } = this.#parts;
    return repeat(clock, everyMs, logger, "look what is wrong", () => this.look(), 0);
  }

  async look(): Promise<void> {
    if (this.#looks++ % storedLooks === 0) {
      const { findStored, findOnMachine, clock } = this.#parts;
      this.#onMachine = await findOnMachine(clock.now());
      const reason = "The database cannot be asked at the moment.";
      this.#stored = await findStored(clock.now()).catch(() => [{ what: "database", reason }]);
    }
    this.read();
  }

  /** Everything that is wrong now; what clients notice comes first. */
  read(): DatedTrouble[] {
    const now = this.#parts.clock.now();
    const seen = new Map<string, number>();
    const dated = this.#find(now).map((trouble) => {
      const key = `${trouble.what} ${trouble.model ?? ""} ${trouble.server ?? ""}`;
      const since = trouble.since ?? this.#seen.get(key) ?? now;
      seen.set(key, since);
      return { ...trouble, since };
    });
    this.#seen = seen;
    return dated.toSorted((one, other) => kinds.indexOf(one.what) - kinds.indexOf(other.what));
  }

  #find(now: number): Trouble[] {
    const { models, servers, lastProof, admits, clock } = this.#parts;
    const troubles = findFleetTroubles(
      models().map(({ id }) => id),
      servers(),
    );
    const isKnown = this.#stored.some(({ what }) => what === "database");
    if (!admits() && !isKnown) {
      troubles.push({ what: "database", reason: "The ledger takes no requests at the moment." });
    }
    const proof = lastProof();
    if (proof?.ok === false) {
      troubles.push({ what: "books_failed", reason: "The last proof of the books has findings.", since: proof.at });
    } else if (proof !== undefined && now - proof.at > oldProofMs) {
      troubles.push({ what: "books_old", reason: "The books were not proved for hours.", since: proof.at });
    }
    if (!clock.agrees) {
      troubles.push({ what: "clocks_apart", reason: "The clocks of this core and its database disagree." });
    }
    return [...troubles, ...this.#stored, ...this.#onMachine];
  }
}
