import type { Clock } from "#lib/time/clock.ts";
import { type Load, nothing } from "./news.ts";

interface LeftPlace {
  readonly server: string;
  readonly core: string;
  readonly load: Load;
  readonly cancel: () => void;
}

/** Places that were left to other cores, until it is known what came of them, or it is too late for news. */
export class LeftPlaces {
  readonly #clock: Clock;
  #places: readonly LeftPlace[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A place on a server was left to a core. `onLate` is called when nothing was heard of it for so long. */
  add(server: string, core: string, load: Load, ms: number, onLate: () => void): void {
    const cancel = this.#clock.after(ms, () => {
      this.#remove(place);
      onLate();
    });
    const place: LeftPlace = { server, core, load, cancel };
    this.#places = [...this.#places, place];
  }

  /** It is known what came of the oldest place on a server that was left to a core. */
  settle(server: string, core: string): void {
    const place = this.#places.find((one) => one.server === server && one.core === core);
    if (place !== undefined) {
      place.cancel();
      this.#remove(place);
    }
  }

  /** The load as which they count on a server. */
  loadOn(server: string): Load {
    const sum = { ...nothing };
    for (const { load } of this.#places.filter((place) => place.server === server)) {
      sum.inFlight += load.inFlight;
      sum.unreadTokens += load.unreadTokens;
      sum.tokensInFlight += load.tokensInFlight;
    }
    return sum;
  }

  close(): void {
    for (const { cancel } of this.#places) {
      cancel();
    }
  }

  #remove(place: LeftPlace): void {
    this.#places = this.#places.filter((one) => one !== place);
  }
}
