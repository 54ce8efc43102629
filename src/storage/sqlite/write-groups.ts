import type { DatabaseThread } from "./database-thread.ts";
import type { Ran } from "./statements.ts";

/** Units that one commit may have: the first waits for the last, and other writers of the file for all of them. */
const mostInGroup = 32;

/**
 * Lets units of work write one after the other on the thread, in the order in which they ask. Those that wait for a
 * commit to reach the disk are committed together by the next one, so that many cost little more than one.
 */
export class WriteGroups {
  readonly #thread: Pick<DatabaseThread, "call">;
  readonly #waiting: (() => void)[] = [];
  #isTaken = false;
  #units = 0;

  constructor(thread: Pick<DatabaseThread, "call">) {
    this.#thread = thread;
  }

  /** Begins a unit once it is its turn. `keep` or `undo` ends it. */
  async begin(): Promise<void> {
    await this.#take();
    try {
      await this.#thread.call("begin", []);
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Runs a statement of the unit that has its turn. */
  run(sql: string, parameters: readonly unknown[]): Promise<Ran> {
    return this.#thread.call("within", [sql, parameters]);
  }

  /** Resolves once the unit is on the disk. */
  async keep(): Promise<void> {
    const kept: Promise<void> = this.#thread.call("keep", []);
    this.#leave();
    await kept;
  }

  /** Takes the unit back. Never rejects: a thread that does not answer has rolled it back. */
  async undo(): Promise<void> {
    const undone: Promise<void> = this.#thread.call("undo", []);
    this.#leave();
    await undone.catch(() => {});
  }

  /** Runs one statement by itself. */
  async alone(sql: string, parameters: readonly unknown[]): Promise<Ran> {
    await this.#take();
    const ran: Promise<Ran> = this.#thread.call("run", [sql, parameters]);
    this.#leave();
    return ran;
  }

  async #take(): Promise<void> {
    if (this.#isTaken) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#isTaken = true;
  }

  /** Hands the turn to the next unit, in the same group while it is small. */
  #leave(): void {
    const next = this.#waiting.shift();
    this.#units += 1;
    if (next === undefined || this.#units >= mostInGroup) {
      this.#units = 0;
      this.#thread.call("commit", []).catch(() => {}); // the units are told
    }
    if (next === undefined) {
      this.#isTaken = false;
    } else {
      next();
    }
  }
}
