import type { Dice } from "../world/dice.ts";
import type { SimulatedProcess } from "../world/process.ts";
import type { Timeline } from "../world/timeline.ts";

/** Faults of database calls. Values are probabilities for each call. */
export interface NetworkFaults {
  /** The call never arrives. */
  lost: number;
  /** The call is executed, but its reply never arrives. */
  replyLost: number;
  /** The call is executed long after its caller gave up. */
  late: number;
  /** The call takes up to some seconds. */
  slow: number;
  /** Late calls that have not arrived yet. */
  underWay: number;
  /** Nothing gets through. */
  isDown: boolean;
  /** The name of the call whose next reply is lost. Empty: none. */
  losesReplyOf: string;
}

/** Milliseconds after which an unanswered statement has failed for its caller. */
const timeoutMs = 10_000;

/**
 * The connection between one process and the database. Calls overtake each other, get lost, arrive late, or are
 * executed without a reply.
 */
export class Wire {
  readonly #timeline: Timeline;
  readonly #process: SimulatedProcess;
  readonly #dice: Dice;
  readonly #faults: NetworkFaults;
  readonly #noted: (fault: string) => void;

  constructor(parts: {
    readonly timeline: Timeline;
    readonly process: SimulatedProcess;
    readonly dice: Dice;
    readonly faults: NetworkFaults;
    /** Called with each fault. */
    readonly noted: (fault: string) => void;
  }) {
    this.#timeline = parts.timeline;
    this.#process = parts.process;
    this.#dice = parts.dice;
    this.#faults = parts.faults;
    this.#noted = parts.noted;
  }

  /**
   * Calls the server. Rejects like the driver when no reply arrives; then it is unknown whether the call was executed.
   */
  call<T>(name: string, run: () => T | Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (!this.#process.act()) {
        return; // a dead process waits forever
      }
      const reply = (give: () => void) => {
        this.#after(this.#span(), () => this.#process.reach(give));
      };
      const fate = this.#draw(name);
      if (fate === "down" || fate === "lost") {
        this.#after(this.#dice.chance(0.5) ? 1 : timeoutMs, () => this.#process.reach(() => reject(broken())));
        return;
      }
      const arrive = () => {
        if (this.#faults.isDown) {
          reply(() => reject(broken()));
          return;
        }
        this.#do(run, (give) => {
          if (fate === "replyLost") {
            this.#after(this.#dice.chance(0.7) ? 1 : timeoutMs, () => this.#process.reach(() => reject(broken())));
          } else if (fate !== "late") {
            reply(() => give(resolve, reject));
          }
        });
      };
      if (fate === "late") {
        this.#after(timeoutMs, () => this.#process.reach(() => reject(broken())));
        this.#faults.underWay++;
        this.#after(timeoutMs + this.#dice.exponential(5000), () => {
          this.#faults.underWay--;
          arrive();
        });
      } else {
        this.#after(this.#span(), arrive);
      }
    });
  }

  /** Like `call`, for a transaction. Its statements are executed at once; only the reply to its end takes time. */
  begin(run: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#process.act()) {
        return;
      }
      if (this.#draw("begin") === "down") {
        this.#after(1, () => this.#process.reach(() => reject(broken())));
        return;
      }
      this.#after(this.#span(), () =>
        this.#process.reach(() => {
          if (this.#faults.isDown) {
            reject(broken());
          } else {
            run();
            resolve();
          }
        }),
      );
    });
  }

  /** Ends a transaction. */
  commit(run: () => void): Promise<void> {
    return new Promise((resolve, reject) => {
      if (!this.#process.act()) {
        return;
      }
      const fate = this.#draw("commit");
      if (fate === "lost") {
        this.#after(1, () => this.#process.reach(() => reject(broken())));
        return;
      }
      run();
      const isLost = fate === "replyLost" || fate === "late";
      const give = isLost ? () => reject(broken()) : () => resolve();
      this.#after(isLost && this.#dice.chance(0.3) ? timeoutMs : this.#span(), () => this.#process.reach(give));
    });
  }

  #do<T>(
    run: () => T | Promise<T>,
    done: (give: (resolve: (value: T) => void, reject: (error: unknown) => void) => void) => void,
  ): void {
    const failed = (error: unknown) => done((_, reject) => reject(error));
    let result: T | Promise<T>;
    try {
      result = run();
    } catch (error) {
      failed(error);
      return;
    }
    if (result instanceof Promise) {
      this.#timeline.finish(result.then((value) => done((resolve) => resolve(value)), failed));
    } else {
      const value = result;
      done((resolve) => resolve(value));
    }
  }

  /** Whether the reply to this call is to be lost. */
  loses(name: string): boolean {
    if (name !== this.#faults.losesReplyOf) {
      return false;
    }
    this.#faults.losesReplyOf = "";
    this.#noted(`replyLost: ${name}`);
    return true;
  }

  #draw(name: string): "fine" | "down" | "lost" | "replyLost" | "late" {
    const { lost, replyLost, late, isDown } = this.#faults;
    if (isDown) {
      return "down";
    }
    if (this.loses(name)) {
      return "replyLost";
    }
    const drawn = this.#dice.fraction();
    const fate =
      drawn < lost
        ? "lost"
        : drawn < lost + replyLost
          ? "replyLost"
          : drawn < lost + replyLost + late
            ? "late"
            : "fine";
    if (fate !== "fine") {
      this.#noted(`${fate}: ${name}`);
    }
    return fate;
  }

  #span(): number {
    return this.#dice.chance(this.#faults.slow) ? this.#dice.exponential(1000) : 0.1 + this.#dice.exponential(0.5);
  }

  #after(ms: number, happen: () => void): void {
    this.#timeline.after(ms, happen);
  }
}

/** The error of the driver and the system. */
export function broken(): Error {
  return Object.assign(new Error("Connection terminated unexpectedly"), { code: "ECONNRESET" });
}
