import { type ServiceClass, serviceClasses } from "../../../../lib/service-class.ts";
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
  constructor(shares: Shares) {
    this.#lanes = [...serviceClasses].reverse().map((serviceClass) => {
      const turns = new TokenTurns();
      return { serviceClass, turns, line: new WaitingLine((key) => turns.rank(key) + shares.workOf(key)) };
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

  /** Removes the next waiter for which `serve` returns true. */
  serveNext(serve: (waiter: Waiter) => boolean): boolean {
    const waiting = this.#lanes.filter(({ line }) => line.length > 0);
    const rank = ({ serviceClass }: Lane) => this.#classes.rank(serviceClass);
    const lowest = Math.min(...waiting.map(rank));
    for (const { line, turns } of waiting.length < 2 ? waiting : waiting.toSorted((a, b) => rank(a) - rank(b))) {
      const present = line.lowestRank();
      if (line.serveNext(serve)) {
        turns.advance(present);
        this.#classes.advance(lowest);
        return true;
      }
    }
    return false;
  }

  /** A place was taken: its expected work counts as served to its key and its class. */
  took(place: Place): void {
    this.#serve(place, place.expectedWork);
  }

  /** A place was taken while nobody waited. */
  tookAtOnce(place: Place): void {
    const { turns } = this.#laneOf(place);
    const { key, serviceClass, expectedWork } = place;
    this.#classes.advance(this.#classes.rank(serviceClass) - expectedWork / parts[serviceClass]);
    turns.advance(turns.rank(key) - expectedWork);
  }

  /** A place was given back: its real work replaces the expected work for its key and its class. */
  left(place: Place): void {
    this.#serve(place, place.work - place.expectedWork);
  }

  #serve(place: Place, work: number): void {
    this.#laneOf(place).turns.serve(place.key, work);
    this.#classes.serve(place.serviceClass, work / parts[place.serviceClass]);
  }

  #from(serviceClass: ServiceClass): readonly Lane[] {
    return this.#lanes.slice(0, serviceClasses.length - serviceClasses.indexOf(serviceClass));
  }

  #laneOf({ serviceClass }: Pick<Waiter, "serviceClass">): Lane {
    return this.#byClass.get(serviceClass) as Lane;
  }
}
