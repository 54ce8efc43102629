import type { Clock } from "#lib/time/clock.ts";
import type { Timeline } from "./timeline.ts";

/** How a machine's clocks run. */
export interface MachineTime {
  /** The wall clock's offset from the world's time. */
  offsetMs: number;
  /** The speed of the monotonic clock. 1 is right. */
  readonly rate: number;
}

/**
 * A process of the simulated operating system. It may be killed between any two externally visible actions, and
 * suspended. Everything that reaches it, and everything that it does to the world, goes through here.
 */
export class SimulatedProcess implements Clock {
  readonly #timeline: Timeline;
  readonly #time: MachineTime;
  readonly #born: number;
  readonly #onDeath: (() => void)[] = [];
  #dead = false;
  #asleepUntil = 0;
  /** Unique in the world. */
  readonly name: string;
  /** Requests that run on it. */
  requests = 0;
  /** When it died. Undefined: it lives. */
  diedAt: number | undefined;
  /** When its disk last refused something. */
  diskRefusedAt = Number.NEGATIVE_INFINITY;
  /** When it wakes, or last woke. */
  wakesAt = Number.NEGATIVE_INFINITY;
  /** The actions left until it is killed. */
  #deeds = Number.POSITIVE_INFINITY;

  constructor(name: string, timeline: Timeline, time: MachineTime) {
    this.name = name;
    this.#timeline = timeline;
    this.#time = time;
    this.#born = timeline.now;
  }

  get alive(): boolean {
    return !this.#dead;
  }

  get asleep(): boolean {
    return this.#timeline.now < this.#asleepUntil;
  }

  onDeath(run: () => void): void {
    this.#onDeath.push(run);
  }

  kill(): void {
    if (this.#dead) {
      return;
    }
    this.#dead = true;
    this.diedAt = this.#timeline.now;
    for (const run of this.#onDeath) {
      run();
    }
  }

  /** Kills it after this many more actions. */
  killAfter(deeds: number): void {
    this.#deeds = deeds;
  }

  /** Lets nothing reach it for `ms`. */
  suspend(ms: number): void {
    this.#asleepUntil = Math.max(this.#asleepUntil, this.#timeline.now + ms);
    this.wakesAt = this.#asleepUntil;
  }

  /**
   * Called before each action on the world. Returns false when the process is dead: then the action must not happen.
   */
  act(): boolean {
    if (this.#dead) {
      return false;
    }
    if (this.#deeds-- <= 0) {
      this.kill();
      return false;
    }
    return true;
  }

  /** Something reaches it: at once, when it wakes, or never. */
  reach(run: () => void): void {
    if (this.#dead) {
      return;
    }
    if (this.asleep) {
      this.#timeline.at(this.#asleepUntil, () => this.reach(run));
      return;
    }
    run();
  }

  now(): number {
    return Math.floor(this.#timeline.beginning + this.#timeline.now + this.#time.offsetMs);
  }

  monotonic(): number {
    return (this.#timeline.now - this.#born) * this.#time.rate + 1000;
  }

  after(ms: number, callback: () => void): () => void {
    const whole = Math.max(1, Math.ceil(ms)); // rounds like Node.js
    return this.#timeline.after(whole / this.#time.rate, () => this.reach(callback));
  }
}
