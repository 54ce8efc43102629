/** Who calls. */
export interface Identified {
  /** The account that pays. */
  readonly accountId: string;
  /** How many more of its key's requests would be admitted now. Undefined: the core did not tell. */
  readonly room: number | undefined;
}

/** The large bodies of one key. */
interface Line {
  underWay: number;
  /** Those that wait, first come first served. */
  readonly waiting: (() => void)[];
}

/**
 * The large bodies that are under way, by key. No more of a key's are read at a time than its rate has room for, and one where it
 * has none: the others wait, unread, until that one's request is counted or refused, and are then refused on their heads.
 */
export class LargeBodies {
  readonly #lines = new Map<string, Line>();

  /** Resolves with the account once a body of a key may be read; `leave` must follow. Rejects as `ask` does. */
  async enter(key: string, ask: () => Promise<Identified>): Promise<string> {
    for (;;) {
      const { accountId, room = Number.POSITIVE_INFINITY } = await ask().catch((error: unknown) => {
        this.#wake(key);
        throw error;
      });
      const line = this.#lines.get(key) ?? { underWay: 0, waiting: [] };
      this.#lines.set(key, line);
      if (line.underWay < Math.max(1, room)) {
        line.underWay += 1;
        return accountId;
      }
      await new Promise<void>((resolve) => line.waiting.push(resolve));
    }
  }

  /** A body has been read, and its request is counted or refused. */
  leave(key: string): void {
    const line = this.#lines.get(key);
    if (line !== undefined) {
      line.underWay -= 1;
      this.#wake(key);
    }
  }

  /** Has the first one that waits ask again. */
  #wake(key: string): void {
    const line = this.#lines.get(key);
    const next = line?.waiting.shift();
    if (next !== undefined) {
      next();
    } else if (line?.underWay === 0) {
      this.#lines.delete(key);
    }
  }
}
