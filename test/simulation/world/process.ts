import type { Clock } from "../../../lib/time/clock.ts";
import type { Timeline } from "./timeline.ts";

/** How a machine's clocks go. */
export interface MachineTime {
  /** What the wall clock shows beyond the world's time. */
  offsetMs: number;
  /** How fast the monotonic clock goes; 1 is right. */
  readonly rate: number;
}

/**
 * A process of the simulated operating system: it may be killed in the middle of anything that can be seen from outside,
 * and suspended. All that reaches it and all that it does to the world goes through here.
 */
export class SimulatedProcess implements Clock {
  readonly #timeline: Timeline;
  readonly #time: MachineTime;
  readonly #born: number;
  readonly #onDeath: (() => void)[] = [];
  #dead = false;
  #asleepUntil = 0;
  /** Another one for each process of a world. */
  readonly name: string;
  /** Requests that run on it. */
  requests = 0;
  /** When it died. Undefined: it lives. */
  diedAt: number | undefined;
  /** When its disk last refused something. */
  diskRefusedAt = Number.NEGATIVE_INFINITY;
  /** Whether it ever slept. */
  wasSuspended = false;
  /** What it may still do before it is killed. */
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

  /** Kills it once it has done so many more things. */
  killAfter(deeds: number): void {
    this.#deeds = deeds;
  }

  /** Nothing reaches it for so long. */
  suspend(ms: number): void {
    this.wasSuspended = true;
    this.#asleepUntil = Math.max(this.#asleepUntil, this.#timeline.now + ms);
  }

  /** Before anything that it does to the world. Returns false when it is dead, and then nothing may be done. */
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
    const whole = Math.max(1, Math.ceil(ms)); // as Node.js does it
    return this.#timeline.after(whole / this.#time.rate, () => this.reach(callback));
  }
}
