import { toWiderNetwork } from "../net/network.ts";

/** What waits for a turn of the event loop. */
interface Waiting {
  /** How many of its network may begin in one turn, with it. */
  readonly most: number;
  act(): void;
}

/**
 * Bounds what each network begins in one turn of the event loop, so that a burst of one is dealt with little by little, and
 * what others wait for goes on between. Nothing is refused: it begins some turns later, first come, first served.
 */
export class NetworkTurns {
  readonly #nextTurn: (run: () => void) => void;
  /** What networks have begun in this turn. */
  readonly #begun = new Map<string, number>();
  /** By network. */
  readonly #lines = new Map<string, Waiting[]>();
  #isTurnAwaited = false;

  /** `nextTurn`: runs a function in the next turn of the event loop. */
  constructor(nextTurn: (run: () => void) => void = setImmediate) {
    this.#nextTurn = nextTurn;
  }

  /** Acts at once, or in a later turn where the network around a client has begun `most` in this one. */
  take(address: string, most: number, act: () => void): void {
    const network = toWiderNetwork(address);
    const line = this.#lines.get(network);
    if (line !== undefined) {
      line.push({ most, act });
    } else if (this.#begin(network, most)) {
      act();
    } else {
      this.#lines.set(network, [{ most, act }]);
    }
  }

  /** Counts a beginning in this turn. False: the network has begun so many already. */
  #begin(network: string, most: number): boolean {
    const begun = this.#begun.get(network) ?? 0;
    if (begun >= most) {
      return false;
    }
    this.#begun.set(network, begun + 1);
    if (!this.#isTurnAwaited) {
      this.#isTurnAwaited = true;
      this.#nextTurn(this.#turn);
    }
    return true;
  }

  readonly #turn = (): void => {
    this.#isTurnAwaited = false;
    this.#begun.clear();
    for (const [network, line] of [...this.#lines]) {
      const end = line.findIndex(({ most }) => !this.#begin(network, most));
      const due = line.splice(0, end === -1 ? line.length : end);
      if (line.length === 0) {
        this.#lines.delete(network);
      }
      for (const { act } of due) {
        act();
      }
    }
  };
}
