import { expect, test } from "@jest/globals";
import { defaultGpu, type Gpu } from "../../../../simulator/engine/gpu/gpu.ts";
import { Scheduler } from "../../../../simulator/engine/gpu/scheduler.ts";
import type { Sequence } from "../../../../simulator/engine/gpu/sequence.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const simple: Gpu = { ...defaultGpu, stepBase: 10, stepPerSequence: 0, prefillPerSecond: 1000, prefillChunk: 100 };

function rig(gpu: Partial<Gpu> = {}, speed = 1) {
  const clock = new ManualClock();
  const scheduler = new Scheduler({ ...simple, ...gpu }, speed, clock);
  const start = clock.monotonic();
  /** Starts a sequence and notes when its tokens were told. */
  function submit(prompt: number, output: number, first = 1, more: { salt?: number; stallAt?: number } = {}) {
    const told: number[] = [];
    const sequence: Sequence = scheduler.submit({
      prompt: Array.from({ length: prompt }, (_, at) => first + at),
      output: Array.from({ length: output }, (_, at) => 100_000 + first + at),
      salt: more.salt ?? 0,
      stallAt: more.stallAt,
      progress: (from, to) => {
        for (let at = from; at < to; at++) {
          told.push(Math.round(clock.monotonic() - start));
        }
      },
    });
    return { sequence, told };
  }
  return { clock, scheduler, submit };
}

test("the first token takes the prompt's time and a step, the others a step each", () => {
  const { clock, submit } = rig();
  const { told } = submit(50, 3);
  clock.advance(200);
  expect(told).toEqual([60, 70, 80]); // 50 tokens at 1,000 a second, and 10 ms a step
});

test("a step takes longer the more sequences it serves, and serves all of them", () => {
  const { clock, submit } = rig({ stepPerSequence: 5, prefillPerSecond: Number.POSITIVE_INFINITY });
  const [a, b] = [submit(10, 3), submit(10, 3, 500)];
  clock.advance(200);
  // The second came when the first step was under way.
  expect(a.told).toEqual([15, 35, 55]);
  expect(b.told).toEqual([35, 55, 70]);
});

test("a prompt that is only read has no tokens to tell", () => {
  const { clock, scheduler } = rig();
  const told: number[][] = [];
  const read = (length: number) =>
    scheduler.submit({
      prompt: Array.from({ length }, (_, at) => at),
      output: [],
      salt: 0,
      stallAt: undefined,
      progress: (from, to) => told.push([length, from, to]),
    });
  read(50);
  read(30);
  clock.advance(1000);
  expect(told).toEqual([
    [50, 0, 0],
    [30, 0, 0],
  ]);
  expect(scheduler.counters).toMatchObject({ finished: 2, generatedTokens: 0, promptTokens: 80 });
  expect(scheduler.cache.usage).toBe(0);
});

test("a long prompt is worked through in chunks, beside which others go on", () => {
  const { clock, submit } = rig();
  const a = submit(10, 6);
  const b = submit(250, 1, 500);
  clock.advance(1000);
  expect(a.told).toEqual([20, 130, 240, 300, 310, 320]);
  expect(b.told).toEqual([300]);
});

test("more than may run wait in their order, and one more than may wait is too many", () => {
  const { clock, scheduler, submit } = rig({ maxRunning: 1, maxWaiting: 1 });
  const a = submit(10, 2);
  expect(scheduler.full).toBe(false);
  const b = submit(10, 1, 500);
  expect(scheduler.full).toBe(true);
  expect([scheduler.running, scheduler.waiting]).toEqual([1, 1]);
  clock.advance(1000);
  expect(a.told).toEqual([20, 30]);
  expect(b.told).toEqual([50]);
  expect([scheduler.running, scheduler.waiting]).toEqual([0, 0]);
});

test("a known prefix costs neither time nor memory again, under the same salt", () => {
  const { clock, scheduler, submit } = rig();
  submit(64, 1);
  clock.advance(1000);
  const [same, other] = [submit(64, 1), submit(64, 1, 1, { salt: 9 })];
  expect(scheduler.cache.usage).toBeCloseTo(4 / scheduler.cache.total); // the other waits for the next step
  clock.advance(1000);
  expect(same.sequence.cached).toBe(48); // the last block is computed: its last token has to be
  expect(other.sequence.cached).toBe(0);
  expect(scheduler.counters).toMatchObject({ cacheQueries: 192, cacheHits: 48 });
  expect(same.told).toEqual([1000 + 16 + 10]);
});

test("what was generated is known when it comes back in the next turn's prompt", () => {
  const { clock, scheduler, submit } = rig();
  submit(16, 17); // prompt 1…16, output 100001…100017
  clock.advance(1000);
  const next = scheduler.submit({
    prompt: [
      ...Array.from({ length: 16 }, (_, at) => 1 + at),
      ...Array.from({ length: 17 }, (_, at) => 100_001 + at),
      7,
    ],
    output: [1],
    salt: 0,
    stallAt: undefined,
    progress: () => {},
  });
  clock.advance(1000);
  expect(next.cached).toBe(32);
});

test("without memory for both, the younger starts over and loses nothing", () => {
  const { clock, scheduler, submit } = rig({ kvTokens: 64, prefixCache: false });
  const [a, b] = [submit(30, 20), submit(30, 20, 500)];
  clock.advance(5000);
  expect(scheduler.counters.preempted).toBeGreaterThan(0);
  expect([a.told.length, b.told.length]).toEqual([20, 20]);
  expect(Math.max(...a.told)).toBeLessThan(Math.max(...b.told));
  expect(scheduler.cache.usage).toBe(0);
  expect(scheduler.counters).toMatchObject({ finished: 2, generatedTokens: 40, promptTokens: 60 });
});

test("an aborted sequence frees place and memory at once and is never heard of again", () => {
  const { clock, scheduler, submit } = rig({ maxRunning: 1 });
  const a = submit(32, 100);
  const b = submit(10, 1, 500);
  clock.advance(70);
  expect(a.told.length).toBe(3);
  scheduler.abort(a.sequence);
  expect([scheduler.running, scheduler.waiting]).toEqual([0, 1]); // the next one comes with the next step
  expect(scheduler.cache.usage).toBe(0);
  scheduler.abort(a.sequence);
  clock.advance(1000);
  expect(a.told.length).toBe(3);
  expect(b.told.length).toBe(1);
  expect(scheduler.cache.usage).toBe(0);
  expect(scheduler.counters.aborted).toBe(1);
});

test("a stalled sequence keeps its place but holds up nothing else", () => {
  const { clock, scheduler, submit } = rig();
  const a = submit(10, 10, 1, { stallAt: 2 });
  const b = submit(10, 2, 500);
  clock.advance(10_000);
  expect(a.told.length).toBe(2);
  expect(b.told.length).toBe(2);
  expect(scheduler.running).toBe(1);
  scheduler.abort(a.sequence);
  expect(scheduler.running).toBe(0);
});

test("twice the speed is half the time", () => {
  const { clock, submit } = rig({}, 2);
  const { told } = submit(2, 5);
  clock.advance(1000);
  expect(told).toEqual([6, 11, 16, 21, 26]);
});

test("a timer that comes late does not slow the pace: what is due by then comes at once", () => {
  let now = 0;
  let timer = () => {};
  const clock = {
    now: () => now,
    monotonic: () => now,
    after: (_: number, callback: () => void) => {
      timer = callback;
      return () => {};
    },
  };
  const told: [number, number][] = [];
  new Scheduler({ ...simple, prefillPerSecond: Number.POSITIVE_INFINITY }, 1, clock).submit({
    prompt: [1],
    output: [1, 2, 3, 4, 5],
    salt: 0,
    stallAt: undefined,
    progress: (from, to) => told.push([from, to]),
  });
  now = 35; // the timer was set for 10
  timer();
  expect(told).toEqual([[0, 3]]);
  now = 40;
  timer();
  expect(told).toEqual([
    [0, 3],
    [3, 4],
  ]);
});

test("without delays all comes without the clock", async () => {
  const { submit } = rig({}, 0);
  const { told } = submit(1000, 200);
  while (told.length < 200) {
    await new Promise(setImmediate);
  }
  expect(told).toHaveLength(200);
});
