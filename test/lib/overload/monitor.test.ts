import { beforeEach, expect, test } from "@jest/globals";
import { OverloadMonitor } from "#lib/overload/monitor.ts";
import type { Clock } from "#lib/time/clock.ts";

/** A clock whose timer comes as late as a test says. */
class LateClock implements Clock {
  #time = 0;
  #timer: { at: number; callback: () => void } | undefined;
  now = () => this.#time;
  monotonic = () => this.#time;

  after(ms: number, callback: () => void): () => void {
    this.#timer = { at: this.#time + ms, callback };
    return () => {
      this.#timer = undefined;
    };
  }

  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  /** Lets the timer come, so many milliseconds late. */
  fire(lateMs: number): void {
    const timer = this.#timer;
    this.#timer = undefined;
    if (timer === undefined) {
      throw new Error("nobody waits");
    }
    this.#time = timer.at + lateMs;
    timer.callback();
  }

  /** Has time pass without a timer. */
  pass(ms: number): void {
    this.#time += ms;
  }
}

let clock: LateClock;
let memory: number;
let garbage: number;
let collected: number;
/** How long a collection takes. */
let collectionMs: number;
let said: string[];
let monitor: OverloadMonitor;

beforeEach(() => {
  clock = new LateClock();
  memory = 0.2;
  garbage = 0;
  collected = 0;
  collectionMs = 0;
  said = [];
  const note = (_fields: object, message: string) => said.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  monitor = new OverloadMonitor({
    limits: { maxLagMs: 1000, maxMemory: 0.9 },
    clock,
    readMemory: () => memory + garbage,
    collectGarbage() {
      garbage = 0;
      collected++;
      clock.pass(collectionMs);
    },
    logger,
  });
});

/** Lets timers come late one after the other, and tells what the process was short of after each. */
const shortagesAfter = (...lateMs: number[]) =>
  lateMs.map((late) => {
    clock.fire(late);
    return monitor.shortage;
  });

test("an event loop that is late three times in a row is overloaded", () => {
  expect(shortagesAfter(0, 1001, 1500, 2000)).toEqual([undefined, undefined, undefined, "event_loop"]);
  expect(said).toEqual(["overloaded: new requests are refused"]);
  expect(monitor.lagMs).toBe(2000);
});

test("one long pause is none, however long", () => {
  expect(shortagesAfter(75_000, 0, 75_000, 75_000, 0)).toEqual(Array(5).fill(undefined));
});

test("it is over when three samples in a row are well below the limit", () => {
  shortagesAfter(1001, 1001, 1001);
  expect(shortagesAfter(999, 501, 999, 400, 400, 600, 500, 500)).toEqual(Array(8).fill("event_loop"));
  expect(shortagesAfter(500, 5000)).toEqual([undefined, undefined]);
  expect(said).toHaveLength(2);
});

test("full memory is an overload that ends when enough of it is free again", () => {
  memory = 0.91;
  expect(shortagesAfter(0, 0, 0)).toEqual([undefined, undefined, "memory"]);
  memory = 0.87;
  expect(shortagesAfter(0, 0, 0, 0)).toEqual(Array(4).fill("memory"));
  memory = 0.85;
  expect(shortagesAfter(0, 0, 0)).toEqual(["memory", "memory", undefined]);
});

test("memory that is full of garbage alone is no overload", () => {
  memory = 0.5;
  garbage = 0.45;
  expect(shortagesAfter(0, 0, 0, 0)).toEqual(Array(4).fill(undefined));
  expect(collected).toBe(1);
});

test.each([
  ["a second later where collecting is quick", 0, 4],
  ["the later, the longer it takes", 100, 20],
  ["within ten seconds where it takes long", 5000, 40],
])(
  "an overload ends when what filled the memory has become garbage, though no work makes V8 collect it: %s",
  (_, takesMs, samples) => {
    collectionMs = takesMs;
    memory = 0.95;
    expect(shortagesAfter(0, 0, 0)).toEqual([undefined, undefined, "memory"]);
    [memory, garbage] = [0.2, 0.75];
    shortagesAfter(...Array(samples - 1).fill(0));
    expect(collected).toBe(1); // seldom: each stops the process
    expect(shortagesAfter(0, 0, 0)).toEqual(["memory", "memory", undefined]);
    expect(collected).toBe(2);
  },
);

test("a late event loop's overload ends though garbage fills the memory nearly to its limit, and no work collects it", () => {
  [memory, garbage] = [0.2, 0.67];
  expect(shortagesAfter(1001, 1001, 1001, 1001)).toEqual([undefined, undefined, "event_loop", "event_loop"]);
  expect(collected).toBe(0); // it would make the event loop later
  expect(shortagesAfter(0, 0, 0)).toEqual(["event_loop", "event_loop", undefined]);
  expect(collected).toBe(1);
});

test("nothing is collected for an overload that is about to end", () => {
  memory = 0.95;
  shortagesAfter(0, 0, 0, 0, 0, 0);
  memory = 0.2;
  expect(shortagesAfter(0, 0, 0)).toEqual(["memory", "memory", undefined]);
  expect(collected).toBe(1);
});

test("nothing is measured after it is stopped", () => {
  clock.fire(0);
  monitor.stop();
  expect(clock.isWaiting).toBe(false);
});
