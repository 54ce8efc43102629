import { type ServiceClass, serviceClasses } from "#lib/limits/service-class.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Standing, VirtualTimes } from "../../sharing/standing.ts";
import type { Place } from "../place.ts";
import type { Shares } from "../shares.ts";
import { TokenTurns } from "./token-turns.ts";
import type { Waiter } from "./waiter.ts";
import { WaitingLine } from "./waiting-line.ts";

/** Each class's weight in the work while requests of every class wait: a higher class gets more, and none starves. */
const parts: Readonly<Record<ServiceClass, number>> = { flex: 1, standard: 8, priority: 64 };

/** The waiting requests of a class, and their turns. */
interface Lane {
  readonly serviceClass: ServiceClass;
  readonly turns: TokenTurns;
  readonly line: WaitingLine<Waiter>;
}

/**
 * The queue of a model. Classes take turns by their weights. Within a class, accounts take turns by the tokens that
 * they were served.
 */
export class Lanes {
  readonly #classes = new TokenTurns();
  /** The highest class first. */
  readonly #lanes: readonly Lane[];
  readonly #byClass: ReadonlyMap<ServiceClass, Lane>;

  /** `shares` knows the work that accounts have running, which counts as served. */
  constructor(shares: Shares, clock: Clock) {
    this.#lanes = [...serviceClasses].reverse().map((serviceClass) => {
      const turns = new TokenTurns();
      return { serviceClass, turns, line: new WaitingLine((key) => turns.rank(key) + shares.workOf(key), clock) };
    });
    this.#byClass = new Map(this.#lanes.map((lane) => [lane.serviceClass, lane]));
  }

  /** The number of waiting requests. */
  get length(): number {
    let length = 0;
    for (const { line } of this.#lanes) {
      length += line.length;
    }
    return length;
  }

  *[Symbol.iterator](): Generator<Waiter> {
    for (const { line } of this.#lanes) {
      yield* line;
    }
  }

  /** How many requests of a key wait in a class and all higher classes. */
  lengthOf(key: string, serviceClass: ServiceClass): number {
    return this.#from(serviceClass).reduce((sum, { line }) => sum + line.lengthOf(key), 0);
  }

  push(waiter: Waiter): void {
    this.#laneOf(waiter).line.push(waiter);
  }

  /** Removes a waiter that stops waiting. */
  remove(waiter: Waiter): void {
    this.#laneOf(waiter).line.remove(waiter);
  }

  /**
   * In the lowest class that has waiters: the last waiter of the key with the most. Undefined: nobody waits, or that
   * class is higher than `serviceClass`.
   */
  lastOfLowest(serviceClass: ServiceClass): Waiter | undefined {
    const lowest = this.#lanes.findLast(({ line }) => line.length > 0);
    return lowest && serviceClasses.indexOf(lowest.serviceClass) <= serviceClasses.indexOf(serviceClass)
      ? lowest.line.lastOfLongest()
      : undefined;
  }

  /** The next waiter that passes a test. */
  first(test: (waiter: Waiter) => boolean): Waiter | undefined {
    for (const { line } of this.#inTurn()) {
      const waiter = line.first(test);
      if (waiter !== undefined) {
        return waiter;
      }
    }
    return undefined;
  }

  standingOf({ key, serviceClass }: Waiter): Standing {
    const { line } = this.#laneOf({ serviceClass });
    return { serviceClass, rank: line.rank(key), since: line.since(key) };
  }

  /** Compares two waiting requests, wherever they wait. Negative: `one` goes first. */
  compare(one: Standing, other: Standing): number {
    if (one.serviceClass === other.serviceClass) {
      return one.rank - other.rank || one.since - other.since;
    }
    const byTurn = this.#classes.rank(one.serviceClass) - this.#classes.rank(other.serviceClass);
    return byTurn || serviceClasses.indexOf(other.serviceClass) - serviceClasses.indexOf(one.serviceClass);
  }

  /** Removes the next waiter for which `serve` returns true. `elsewhere` waits on other cores. */
  serveNext(serve: (waiter: Waiter) => boolean, elsewhere: readonly Standing[] = []): boolean {
    for (const { line, turns, serviceClass } of this.#inTurn()) {
      const [present, lowest] = [line.lowestRank(), this.#lowestClass()];
      if (line.serveNext(serve)) {
        this.#advance({ turns, serviceClass }, present, lowest, elsewhere);
        return true;
      }
    }
    return false;
  }

  /** A place was taken while nobody waited here. */
  tookAtOnce(place: Place, elsewhere: readonly Standing[] = []): void {
    const lane = this.#laneOf(place);
    const { key, serviceClass, expectedWork } = place;
    const lowest = this.#classes.rank(serviceClass) - expectedWork / parts[serviceClass];
    this.#advance(lane, lane.turns.rank(key) - expectedWork, lowest, elsewhere);
  }

  /** Counts work as served to a key and its class, on this core or another. Negative: less than expected. */
  serve({ key, serviceClass }: Pick<Place, "key" | "serviceClass">, work: number): void {
    this.#laneOf({ serviceClass }).turns.serve(key, work);
    this.#classes.serve(serviceClass, work / parts[serviceClass]);
  }

  get virtualTimes(): VirtualTimes {
    return {
      classes: this.#classes.present,
      accounts: serviceClasses.map((serviceClass) => this.#laneOf({ serviceClass }).turns.present),
    };
  }

  /** Follows another core's virtual times where they are later. */
  follow({ classes, accounts }: VirtualTimes): void {
    this.#classes.advance(classes);
    for (const [at, serviceClass] of serviceClasses.entries()) {
      this.#laneOf({ serviceClass }).turns.advance(accounts[at] ?? 0);
    }
  }

  /** Advances virtual times to what is served, but not past those that wait on other cores. */
  #advance(
    { turns, serviceClass }: Pick<Lane, "turns" | "serviceClass">,
    present: number,
    lowest: number,
    elsewhere: readonly Standing[],
  ): void {
    let [rank, classRank] = [present, lowest];
    for (const other of elsewhere) {
      classRank = Math.min(classRank, this.#classes.rank(other.serviceClass));
      rank = other.serviceClass === serviceClass ? Math.min(rank, other.rank) : rank;
    }
    turns.advance(rank);
    this.#classes.advance(classRank);
  }

  /** The lanes with waiters, in the order of their classes' turns. */
  #inTurn(): readonly Lane[] {
    const waiting = this.#lanes.filter(({ line }) => line.length > 0);
    const rank = ({ serviceClass }: Lane) => this.#classes.rank(serviceClass);
    return waiting.length < 2 ? waiting : waiting.toSorted((a, b) => rank(a) - rank(b));
  }

  /** The lowest rank of the classes that have waiters. */
  #lowestClass(): number {
    return this.#lanes.reduce((lowest, { line, serviceClass }) => {
      return line.length > 0 ? Math.min(lowest, this.#classes.rank(serviceClass)) : lowest;
    }, Number.POSITIVE_INFINITY);
  }

  #from(serviceClass: ServiceClass): readonly Lane[] {
    return this.#lanes.slice(0, serviceClasses.length - serviceClasses.indexOf(serviceClass));
  }

  #laneOf({ serviceClass }: Pick<Waiter, "serviceClass">): Lane {
    return this.#byClass.get(serviceClass) as Lane;
  }
}
