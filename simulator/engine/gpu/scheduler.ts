import type { Clock } from "#lib/time/clock.ts";
import type { Gpu } from "./gpu.ts";
import type { KvCache } from "./kv-cache.ts";
import { Pace } from "./pace.ts";
import { Sequence, type Work } from "./sequence.ts";
import { SequenceMemory } from "./sequence-memory.ts";

/** What a scheduler has done since it started. */
export interface Counters {
  promptTokens: number;
  generatedTokens: number;
  /** Prompt tokens looked up, and found, in the prefix cache. */
  cacheQueries: number;
  cacheHits: number;
  finished: number;
  aborted: number;
  preempted: number;
}

/** The work of one step: running sequences, and prompt tokens. */
interface Step {
  batch: number;
  prefill: number;
}

/**
 * Continuous batching, as in real engines: in every step each running sequence gets one token, and prompts are
 * processed in chunks besides. A sequence joins as soon as a place and KV memory are free. When memory runs out, the
 * youngest sequence starts over later.
 */
export class Scheduler {
  readonly counters: Counters = {
    promptTokens: 0,
    generatedTokens: 0,
    cacheQueries: 0,
    cacheHits: 0,
    finished: 0,
    aborted: 0,
    preempted: 0,
  };
  readonly #gpu: Gpu;
  readonly #memory: SequenceMemory;
  readonly #pace: Pace;
  #running: Sequence[] = [];
  #waiting: Sequence[] = [];
  #moved: Sequence[] = [];
  /** `speed` is how many times faster than the GPU the steps run. 0: no delay. */
  constructor(gpu: Gpu, speed: number, clock: Clock) {
    this.#gpu = gpu;
    this.#memory = new SequenceMemory(gpu);
    this.#pace = new Pace(speed, clock, {
      schedule: () => this.#schedule(),
      complete: () => this.#complete(),
      report: () => this.#report(),
    });
  }

  get cache(): KvCache {
    return this.#memory.cache;
  }

  get running(): number {
    return this.#running.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whether another sequence would be refused. */
  get full(): boolean {
    return this.#running.length + this.#waiting.length >= this.#gpu.maxRunning + this.#gpu.maxWaiting;
  }

  submit(work: Work): Sequence {
    const sequence = new Sequence(work);
    this.#waiting.push(sequence);
    this.#pace.start();
    return sequence;
  }

  /** Removes a sequence from the GPU at once, with its place and its memory. */
  abort(sequence: Sequence): void {
    if (sequence.state === "finished" || sequence.state === "aborted") {
      return;
    }
    if (sequence.state === "waiting") {
      this.#waiting.splice(this.#waiting.indexOf(sequence), 1);
    } else {
      this.#running.splice(this.#running.indexOf(sequence), 1);
    }
    this.#end(sequence, "aborted");
    this.counters.aborted++;
    this.#pace.start(); // a waiting sequence may fit now
  }

  /** Stops for good. */
  close(): void {
    this.#pace.close();
  }

  /** Assigns the work of the next step. Returns its duration. Undefined: there is no work. */
  #schedule(): number | undefined {
    const step: Step = { batch: 0, prefill: 0 };
    this.#goOn(step);
    this.#begin(step);
    if (step.batch === 0) {
      return undefined;
    }
    const { stepBase, stepPerSequence, prefillPerSecond } = this.#gpu;
    return stepBase + stepPerSequence * step.batch + (step.prefill / prefillPerSecond) * 1000;
  }

  /** Assigns work to running sequences. */
  #goOn(step: Step): void {
    for (let at = 0; at < this.#running.length; at++) {
      const sequence = this.#running[at];
      if (sequence === undefined || sequence.stalled) {
        continue;
      }
      const missing = sequence.length - sequence.computed;
      const tokens = missing === 1 ? 1 : Math.min(missing, this.#gpu.prefillChunk - step.prefill);
      if (tokens === 0 || !this.#reserve(sequence, sequence.computed + tokens)) {
        continue;
      }
      sequence.scheduled = tokens;
      step.prefill += missing > 1 ? tokens : 0;
      step.batch++;
    }
  }

  /** Admits waiting sequences, as far as the step has room for their prompts. */
  #begin(step: Step): void {
    while (step.prefill < this.#gpu.prefillChunk && this.#running.length < this.#gpu.maxRunning) {
      const sequence = this.#waiting[0];
      if (sequence === undefined || !this.#admit(sequence)) {
        break;
      }
      const tokens = Math.min(sequence.length - sequence.computed, this.#gpu.prefillChunk - step.prefill);
      this.#reserve(sequence, sequence.computed + tokens);
      sequence.scheduled = tokens;
      step.prefill += tokens;
      step.batch++;
    }
  }

  #complete(): void {
    let left = false;
    for (const sequence of this.#running) {
      const tokens = sequence.scheduled;
      if (tokens === 0) {
        continue;
      }
      sequence.scheduled = 0;
      const from = sequence.computed;
      sequence.computed += tokens;
      this.#memory.seal(sequence, from);
      if (sequence.computed < sequence.length) {
        continue;
      }
      const { length } = sequence.work.output;
      if (sequence.produced === sequence.reported) {
        this.#moved.push(sequence);
      }
      if (length > 0) {
        sequence.produced++;
        this.counters.generatedTokens++;
      }
      if (sequence.produced < length) {
        continue;
      }
      this.#end(sequence, "finished");
      this.counters.finished++;
      left = true;
    }
    if (left) {
      this.#running = this.#running.filter((sequence) => sequence.state === "running");
    }
  }

  #report(): void {
    const moved = this.#moved;
    if (moved.length === 0) {
      return;
    }
    this.#moved = [];
    for (const sequence of moved) {
      if (sequence.state === "aborted") {
        continue;
      }
      const from = sequence.reported;
      sequence.reported = sequence.produced;
      sequence.work.progress(from, sequence.produced);
    }
  }

  /** Moves the first waiting sequence to the running ones, if there is memory for it. */
  #admit(sequence: Sequence): boolean {
    if (!this.#memory.admit(sequence)) {
      return false;
    }
    this.#waiting.shift();
    this.#running.push(sequence);
    sequence.state = "running";
    if (sequence.cached === undefined) {
      sequence.cached = sequence.computed;
      this.counters.promptTokens += sequence.length;
      this.counters.cacheQueries += sequence.length;
      this.counters.cacheHits += sequence.computed;
    }
    return true;
  }

  /**
   * Gets memory for a number of tokens, from younger sequences if necessary. Returns false when the sequence itself had
   * to give way.
   */
  #reserve(sequence: Sequence, tokens: number): boolean {
    while (!this.#memory.grow(sequence, tokens)) {
      const youngest = this.#running.pop();
      if (youngest === undefined) {
        return false;
      }
      this.#preempt(youngest);
      if (youngest === sequence) {
        return false;
      }
    }
    return true;
  }

  #preempt(sequence: Sequence): void {
    this.#memory.free(sequence);
    sequence.computed = 0;
    sequence.scheduled = 0;
    sequence.state = "waiting";
    this.#waiting.unshift(sequence);
    this.counters.preempted++;
  }

  #end(sequence: Sequence, state: "finished" | "aborted"): void {
    this.#memory.free(sequence);
    sequence.scheduled = 0;
    sequence.state = state;
  }
}
