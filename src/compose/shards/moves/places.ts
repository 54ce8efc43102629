import { readIdShard } from "../../../../lib/ids/shard.ts";
import type { Clock } from "../../../../lib/time/clock.ts";
import type { KnownMove } from "../../../metering/moves/interface.ts";
import { moving } from "../../../storage/moving.ts";

/** How long a call waits for a moving account, in milliseconds. */
const patienceMs = 2000;

/**
 * Later states of one move win over earlier ones, whichever database reports them. An arrived move can only be
 * cancelled where a database was restored to a state before it left.
 */
const ranks = { closing: 1, sent: 2, cancelled: 3, done: 4, arrived: 4 } as const;

interface Place {
  shard: number;
  /** The newest known move, and its progress. */
  generation: number;
  rank: number;
  /** False while the account is moving. */
  isOpen: boolean;
  /** Every database that the account may have left something in. */
  readonly past: Set<number>;
}

/**
 * Where moved accounts are; an account's id names the database that it was made in. An account that has not moved costs
 * a look-up in this map, which is empty when none has. A moved account costs about 200 bytes.
 */
export class Places {
  readonly #places = new Map<string, Place>();
  readonly #clock: Pick<Clock, "after">;
  readonly #arrived: ((accountId: string, shard: number) => void)[] = [];
  #waiting = new Set<() => void>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Whether no account has ever moved. */
  get areEmpty(): boolean {
    return this.#places.size === 0;
  }

  /** The number of the database that an account is in. */
  locate(accountId: string): number {
    return this.#places.get(accountId)?.shard ?? readIdShard(accountId);
  }

  /** Whether a move is the newest known one of its account, and the account is where it goes. */
  isLast({ accountId, generation, to }: Pick<KnownMove, "accountId" | "generation" | "to">): boolean {
    const place = this.#places.get(accountId);
    return place?.generation === generation && place.rank === ranks.arrived && place.shard === to;
  }

  /** The databases that an account is or was in, its current one first. */
  everywhere(accountId: string): readonly number[] {
    const place = this.#places.get(accountId);
    return place === undefined ? [readIdShard(accountId)] : [...new Set([place.shard, ...place.past])];
  }

  /** Calls a function whenever an account is in another database than before. */
  onArrival(arrived: (accountId: string, shard: number) => void): void {
    this.#arrived.push(arrived);
  }

  /** Takes in a move that a database reports. */
  note(move: KnownMove): void {
    const { accountId, kind, generation, from, to, state } = move;
    const known = this.#places.get(accountId);
    if (kind !== "account" || (known === undefined && state === "cancelled")) {
      return; // the account is where it was
    }
    const past = new Set([readIdShard(accountId)]);
    const place = known ?? { shard: readIdShard(accountId), generation: 0, rank: 0, isOpen: true, past };
    this.#places.set(accountId, place);
    if (state !== "closing" && state !== "cancelled") {
      place.past.add(from).add(to);
    }
    const rank = ranks[state];
    if (generation > place.generation || (generation === place.generation && rank > place.rank)) {
      Object.assign(place, { generation, rank, isOpen: rank >= ranks.cancelled });
      this.#put(accountId, place, state === "done" || state === "arrived" ? to : from);
    }
  }

  #put(accountId: string, place: Place, shard: number): void {
    if (place.shard !== shard) {
      place.shard = shard;
      for (const arrived of this.#arrived) {
        arrived(accountId, shard);
      }
    }
    if (place.isOpen) {
      this.#wake();
    }
  }

  /**
   * Resolves once an account is not moving. Undefined: it is not moving. Rejects with LEDGER_UNAVAILABLE after two
   * seconds.
   */
  opening(accountId: string): Promise<void> | undefined {
    if (this.#places.size === 0 || this.#places.get(accountId)?.isOpen !== false) {
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const look = () => {
        if (this.#places.get(accountId)?.isOpen !== false) {
          end();
          resolve();
        }
      };
      const late = this.#clock.after(patienceMs, () => {
        end();
        reject(moving());
      });
      const end = () => {
        late();
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
    });
  }

  #wake(): void {
    for (const look of [...this.#waiting]) {
      look();
    }
  }
}
