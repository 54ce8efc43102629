import { readIdShard, readRequestShard } from "../../../lib/ids/shard.ts";
import { unavailable } from "../../metering/ledger/unavailable.ts";
import type { Places } from "./moves/places.ts";
import type { NewerDatabases } from "./newer-databases.ts";

/** The places of accounts that have never moved. */
const unmoved = {
  areEmpty: true,
  locate: readIdShard,
  everywhere: (accountId: string) => [readIdShard(accountId)],
};
/** Stands for a service that has no more databases than at the start. */
const none = { areThere: false, refusal: () => new Error("there are no more databases") };
/** The places of accounts. */
type Whereabouts = Pick<Places, "areEmpty" | "locate" | "everywhere">;

/** Ends the work that was started for a shard. */
export type StopPart = () => void | Promise<void>;

/**
 * A part of each shard, that is, of each database of accounts. A shard that has not been reached since the start has
 * none: calls that need it are refused with LEDGER_UNAVAILABLE, while the others serve.
 */
export class Shards<Part> {
  readonly #parts: (Part | undefined)[];
  readonly #starts: ((part: Part, number: number) => StopPart)[] = [];
  #stops: StopPart[] = [];

  readonly #places: Whereabouts;

  readonly #newer: Pick<NewerDatabases, "areThere" | "refusal">;

  /** The others are added by `add`, and so is the first when it is undefined. Absent `places`: no account moves. */
  constructor(
    first: Part | undefined,
    count: number,
    places: Whereabouts = unmoved,
    newer: Pick<NewerDatabases, "areThere" | "refusal"> = none,
  ) {
    this.#places = places;
    this.#newer = newer;
    this.#parts = [first, ...Array.from({ length: count - 1 }, () => undefined)];
  }

  /** Whether there is more than one shard. */
  get areSeveral(): boolean {
    return this.#parts.length > 1;
  }

  /** Whether a shard was not reached yet. */
  get areMissing(): boolean {
    return this.#parts.includes(undefined);
  }

  /** Whether any account has ever moved. */
  get haveMoved(): boolean {
    return !this.#places.areEmpty;
  }

  /** Throws LEDGER_UNAVAILABLE while there are several and the first is missing. */
  get first(): Part {
    return this.at(0);
  }

  get count(): number {
    return this.#parts.length;
  }

  /** Whether ids and keys name their database, because there are several, or others than this core knows. */
  get areMarked(): boolean {
    return this.#parts.length > 1 || this.#newer.areThere;
  }

  /**
   * The part of a number. For a number that no shard has: the first, where nothing is found either. Throws
   * LEDGER_UNAVAILABLE, also when another core may know the number.
   */
  at(number: number): Part {
    if (number >= this.#parts.length) {
      if (this.#newer.areThere) {
        throw this.#newer.refusal();
      }
      return this.first;
    }
    const part = this.#parts[number];
    if (part === undefined) {
      const name = number === 0 ? "storage.url" : `storage.shards[${number - 1}]`;
      throw unavailable(`The database of these accounts, ${name}, cannot be reached at the moment.`);
    }
    return part;
  }

  /** The part of the database that an account is in. Throws LEDGER_UNAVAILABLE. */
  of(accountId: string): Part {
    return this.#parts.length === 1 ? this.first : this.at(this.#places.locate(accountId));
  }

  /** The parts of all databases that an account is or was in, its current one first. Throws LEDGER_UNAVAILABLE. */
  everywhere(accountId: string): readonly Part[] {
    return this.#parts.length === 1
      ? [this.first]
      : this.#places.everywhere(accountId).map((number) => this.at(number));
  }

  /** All parts, the one that a request's id names first. Throws LEDGER_UNAVAILABLE. */
  forRequest(requestId: string): readonly Part[] {
    const named = this.at(readRequestShard(requestId));
    return [named, ...this.all().filter((part) => part !== named)];
  }

  /**
   * All parts. Throws LEDGER_UNAVAILABLE while one is missing: a result about all accounts must not cover only some.
   */
  all(): readonly Part[] {
    return this.#parts.map((_, number) => this.at(number));
  }

  /** The numbers of all shards. */
  get numbers(): readonly number[] {
    return this.#parts.map((_, number) => number);
  }

  /** The part of a number. Undefined: it is not there. */
  find(number: number): Part | undefined {
    return this.#parts[number];
  }

  /** The parts that are there. */
  present(): readonly Part[] {
    return this.#parts.filter((part) => part !== undefined);
  }

  /** Adds the part of a shard that was reached. */
  add(number: number, part: Part): void {
    this.#parts[number] = part;
    for (const start of this.#starts) {
      this.#stops.push(start(part, number));
    }
  }

  /**
   * Runs a function for each shard that is there and for each that comes. The function that it returns is called at the
   * end.
   */
  each(start: (part: Part, number: number) => StopPart): void {
    this.#starts.push(start);
    for (const [number, part] of this.#parts.entries()) {
      if (part !== undefined) {
        this.#stops.push(start(part, number));
      }
    }
  }

  /** Another part for each shard, made from this one once it is there. */
  map<Other>(make: (part: Part, number: number) => Other): Shards<Other> {
    const [first] = this.#parts;
    const others = new Shards(first && make(first, 0), this.count, this.#places, this.#newer);
    this.each((part, number) => {
      if (part !== first) {
        others.add(number, make(part, number));
      }
      return () => {};
    });
    return others;
  }

  /** Ends the started work, newest first. */
  async stop(): Promise<void> {
    const stops = this.#stops.toReversed();
    this.#stops = [];
    for (const stop of stops) {
      await stop();
    }
  }
}
