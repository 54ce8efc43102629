import type { Clock } from "#lib/time/clock.ts";

/** What a GPU server does. */
export interface Card {
  /** Tokens of its KV cache. */
  readonly kvTokens: number;
  /** Prompt tokens read in a second, and those read in one step. */
  readonly prefillRate: number;
  readonly chunkTokens: number;
  /** Milliseconds of a step, and for each answer that is written in it. */
  readonly stepMs: number;
  readonly perRunningMs: number;
}

/** An 8B model on one H100, and a 70B model in FP8 on four of them. */
export const card8B: Card = {
  kvTokens: 397_000,
  prefillRate: 25_000,
  chunkTokens: 1024,
  stepMs: 8,
  perRunningMs: 0.25,
};
export const card70B: Card = {
  kvTokens: 616_000,
  prefillRate: 10_000,
  chunkTokens: 512,
  stepMs: 15,
  perRunningMs: 0.4,
};

/** A request on the server. */
export interface Run {
  readonly blocks: Int32Array;
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Is told how many prompt tokens were found in the cache. */
  onFirstToken(cachedTokens: number): void;
  onEnd(): void;
}

interface Begun {
  readonly run: Run;
  /** Blocks that were found in the cache. */
  readonly found: number;
  unread: number;
  endsAtStep: number;
}

interface Step {
  readonly at: number;
  readonly ms: number;
  readonly count: number;
  readonly cancel: () => void;
}

/**
 * A server with continuous batching, chunked prefill and a prefix cache of blocks, of which those that nobody uses are
 * lost in the order of their last use, the end of a prompt before its beginning.
 */
export class BatchingServer {
  /** Milliseconds that it was at work. */
  busyMs = 0;
  readonly #card: Card;
  readonly #clock: Clock;
  readonly #blockTokens: number;
  readonly #waiting: Run[] = [];
  #reading: Begun[] = [];
  #writing: Begun[] = [];
  /** Blocks in use, by how many. */
  readonly #used = new Map<number, number>();
  /** Blocks that nobody uses, the one that was used longest ago first. */
  readonly #idle = new Set<number>();
  /** Tokens of requests, with what their answers will need. */
  #usedTokens = 0;
  #steps = 0;
  /** Requests that come while a step ends begin with the next. */
  #isChanging = false;
  #step: Step | undefined;

  constructor(card: Card, clock: Clock, blockTokens: number) {
    this.#card = card;
    this.#clock = clock;
    this.#blockTokens = blockTokens;
  }

  get running(): number {
    return this.#reading.length + this.#writing.length;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get kvUsage(): number {
    return Math.min(1, this.#usedTokens / this.#card.kvTokens);
  }

  start(run: Run): void {
    this.#waiting.push(run);
    if (this.#isChanging) {
      return;
    }
    if (this.#step === undefined) {
      this.#go();
    } else if (this.#reading.length === 0) {
      this.#interrupt();
    }
  }

  /** Tokens of a prompt's beginning that are in its cache. */
  cached(blocks: Int32Array): number {
    return this.#found(blocks) * this.#blockTokens;
  }

  #found(blocks: Int32Array): number {
    let found = 0;
    while (
      found < blocks.length &&
      (this.#used.has(blocks[found] as number) || this.#idle.has(blocks[found] as number))
    ) {
      found++;
    }
    return found;
  }

  /** While answers are written alone, many steps are taken as one; who comes meanwhile ends it. */
  #interrupt(): void {
    const { at, ms, count, cancel } = this.#step as Step;
    cancel();
    const elapsed = this.#clock.monotonic() - at;
    this.busyMs += elapsed;
    this.#steps += Math.min(count, Math.floor(elapsed / ms));
    this.#next(() => {});
  }

  #go(): void {
    this.#admit();
    const { chunkTokens, prefillRate, stepMs, perRunningMs } = this.#card;
    const ms = stepMs + perRunningMs * this.#writing.length;
    if (this.#reading.length > 0) {
      const unread = this.#reading.reduce((sum, one) => sum + one.unread, 0);
      const chunk = Math.min(chunkTokens, unread);
      this.#take(Math.max(ms, (1000 * chunk) / prefillRate), 1, () => this.#read(chunk));
    } else if (this.#writing.length > 0) {
      const next = this.#writing.reduce(
        (least, { endsAtStep }) => Math.min(least, endsAtStep),
        Number.POSITIVE_INFINITY,
      );
      this.#take(ms, Math.max(1, next - this.#steps), () => {});
    }
  }

  #take(ms: number, count: number, then: () => void): void {
    const cancel = this.#clock.after(ms * count, () => {
      this.#step = undefined;
      this.busyMs += ms * count;
      this.#steps += count;
      this.#next(then);
    });
    this.#step = { at: this.#clock.monotonic(), ms, count, cancel };
  }

  #next(then: () => void): void {
    this.#isChanging = true;
    then();
    this.#end();
    this.#isChanging = false;
    this.#step = undefined;
    this.#go();
  }

  #admit(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const { blocks, promptTokens, outputTokens } = next;
      const found = this.#found(blocks);
      let need = promptTokens + outputTokens - found * this.#blockTokens;
      for (let at = 0; at < found; at++) {
        need += this.#used.has(blocks[at] as number) ? 0 : this.#blockTokens;
      }
      if (this.#usedTokens > 0 && this.#usedTokens + need > this.#card.kvTokens) {
        return;
      }
      this.#waiting.shift();
      for (let at = 0; at < found; at++) {
        this.#use(blocks[at] as number);
      }
      this.#usedTokens += need;
      this.#evict();
      const unread = Math.max(1, promptTokens - found * this.#blockTokens);
      this.#reading.push({ run: next, found, unread, endsAtStep: 0 });
    }
  }

  #use(block: number): void {
    this.#idle.delete(block);
    this.#used.set(block, (this.#used.get(block) ?? 0) + 1);
  }

  #evict(): void {
    const most = (this.#card.kvTokens - this.#usedTokens) / this.#blockTokens;
    for (const block of this.#idle) {
      if (this.#idle.size <= most) {
        break;
      }
      this.#idle.delete(block);
    }
  }

  #read(chunk: number): void {
    let left = chunk;
    for (const begun of this.#reading) {
      const part = Math.min(left, begun.unread);
      begun.unread -= part;
      left -= part;
      if (begun.unread > 0) {
        break;
      }
      const { run, found } = begun;
      for (let at = found; at < run.blocks.length; at++) {
        const block = run.blocks[at] as number;
        if (this.#used.has(block)) {
          this.#usedTokens -= this.#blockTokens; // another one has read the same meanwhile
        }
        this.#use(block);
      }
      begun.endsAtStep = this.#steps + run.outputTokens;
      this.#writing.push(begun);
      run.onFirstToken(found * this.#blockTokens);
    }
    this.#reading = this.#reading.filter(({ unread }) => unread > 0);
  }

  #end(): void {
    const ended = this.#writing.filter(({ endsAtStep }) => endsAtStep <= this.#steps);
    if (ended.length === 0) {
      return;
    }
    this.#writing = this.#writing.filter(({ endsAtStep }) => endsAtStep > this.#steps);
    for (const { run } of ended) {
      const { blocks, promptTokens, outputTokens } = run;
      this.#usedTokens -= promptTokens - blocks.length * this.#blockTokens + outputTokens;
      for (let at = blocks.length - 1; at >= 0; at--) {
        this.#leave(blocks[at] as number);
      }
      run.onEnd();
    }
  }

  #leave(block: number): void {
    const users = (this.#used.get(block) ?? 1) - 1;
    if (users > 0) {
      this.#used.set(block, users);
      return;
    }
    this.#used.delete(block);
    this.#usedTokens -= this.#blockTokens;
    this.#idle.add(block);
  }
}
