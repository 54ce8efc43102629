import { NetworkTurns } from "./network-turns.ts";

/** The pieces of bodies, of 64 KiB at most, that are read of a network in one turn of the event loop. */
const piecesATurn = 8;

/**
 * The turns of large bodies: a network's are read a few pieces a turn, and each is dealt with in a turn of its own. Node.js would
 * read 2 MiB of each connection at once.
 */
export class Pieces {
  readonly #turns: NetworkTurns;

  /** `nextTurn`: as NetworkTurns. */
  constructor(nextTurn?: (run: () => void) => void) {
    this.#turns = new NetworkTurns(nextTurn);
  }

  /** A piece of a client's body has come. True: the next one may come now. Otherwise calls `goOn` when it may. */
  next(address: string, goOn: () => void): boolean {
    let isNow = true;
    let isDue = false;
    this.#turns.take(address, piecesATurn, () => {
      isDue = true;
      if (!isNow) {
        goOn();
      }
    });
    isNow = false;
    return isDue;
  }

  /** Resolves when the next piece of a client's body may come. */
  more(address: string): Promise<void> {
    return new Promise((resolve) => this.#turns.take(address, piecesATurn, resolve));
  }

  /** Resolves when a client's whole body may be dealt with: in a turn that has nothing else of its network. */
  whole(address: string): Promise<void> {
    return new Promise((resolve) => this.#turns.take(address, 1, resolve));
  }
}
