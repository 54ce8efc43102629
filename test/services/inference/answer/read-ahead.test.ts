import { once } from "node:events";
import { Code } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import type { GenerateResponse } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { textEvent } from "#src/fleet/engines/shared/answer/events.ts";
import { ReadAhead } from "#src/services/inference/answer/read-ahead.ts";
import { ReadAheadMemory } from "#src/services/inference/answer/read-ahead-memory.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const mebi = 1024 * 1024;
const calm = { shortage: undefined };

/** Reads a script of texts ahead; an Error in it is thrown, and after "open" nothing comes until the signal aborts. */
function start(
  script: readonly (string | Error | "open")[],
  options: { answerBytes?: number; memory?: ReadAheadMemory; openFails?: Error } = {},
) {
  const clock = new ManualClock();
  const memory = options.memory ?? new ReadAheadMemory(mebi, calm);
  const controller = new AbortController();
  const seen = { read: 0, isDone: false, hungUp: [] as Code[] };
  async function* source(signal: AbortSignal): AsyncGenerator<GenerateResponse> {
    try {
      for (const step of script) {
        if (step instanceof Error) {
          throw step;
        }
        if (step === "open") {
          if (!signal.aborted) {
            await once(signal, "abort");
          }
          throw signal.reason;
        }
        seen.read++;
        yield { $typeName: "tollgate.inference.v1.GenerateResponse", events: [textEvent(step)], choice: 0 };
      }
    } finally {
      seen.isDone = true;
    }
  }
  const open = async (signal: AbortSignal) => {
    if (options.openFails !== undefined) {
      throw options.openFails;
    }
    return source(signal);
  };
  const ahead = new ReadAhead(open, {
    accountId: "a",
    memory,
    clock,
    limits: { answerBytes: options.answerBytes ?? mebi, minBytesPerSecond: 100, patienceMs: 60_000 },
    signal: controller.signal,
    hangUp: ({ code }) => void seen.hungUp.push(code),
  });
  const next = async () => {
    const { done, value } = await ahead.next();
    return done ? undefined : value?.events.map(({ event }) => event.value);
  };
  return { ahead, next, clock, memory, controller, seen };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a reader that keeps up gets every message by itself", async () => {
  const { ahead, seen } = start(["a", "b", "c"]);
  const messages: unknown[] = [];
  for await (const { events } of ahead) {
    messages.push(events.map(({ event }) => event.value));
  }
  expect(messages.flat().join("")).toBe("abc");
  expect(seen).toMatchObject({ isDone: true });
});

test("what a slow reader has not taken is read on and joined, in order", async () => {
  const { next, seen, memory } = start(["a", "b", "c", "d"]);
  expect(await next()).toEqual(["a"]);
  await settle();
  expect(seen).toMatchObject({ isDone: true });
  expect(memory.used).toBeGreaterThan(0);
  expect(await next()).toEqual(["bcd"]);
  expect(memory.used).toBe(0);
  expect(await next()).toBeUndefined();
});

test("waiting text comes in pieces of bounded size", async () => {
  const { next } = start(["a", ...Array.from({ length: 20 }, () => "b".repeat(1000))]);
  await next();
  await settle();
  const sizes: number[] = [];
  for (let piece = await next(); piece !== undefined; piece = await next()) {
    sizes.push(piece.join("").length);
  }
  expect(sizes).toEqual([4000, 4000, 4000, 4000, 4000]);
});

test.each([
  ["the answer's buffer", { answerBytes: 2500 }],
  ["the account's share of all memory", { memory: new ReadAheadMemory(8 * 2500, calm) }],
])("%s bounds how far it reads", async (_, options) => {
  const { next, seen } = start(
    Array.from({ length: 20 }, () => "b".repeat(1000)),
    options,
  );
  await next();
  await settle();
  expect(seen.read).toBe(4); // one was handed over
  await next();
  await settle();
  expect(seen.read).toBeGreaterThan(4);
});

test("one account's share leaves the others theirs", () => {
  const memory = new ReadAheadMemory(800, calm);
  memory.add("a", 100);
  expect([memory.hasRoom("a"), memory.hasRoom("b")]).toEqual([false, true]);
  memory.add("a", -100);
  expect(memory.hasRoom("a")).toBe(true);
});

test("nothing is read ahead while the process is short of memory", () => {
  const overload: { shortage: "memory" | "event_loop" | undefined } = { shortage: undefined };
  const memory = new ReadAheadMemory(800, overload);
  expect(memory.hasRoom("a")).toBe(true);
  overload.shortage = "memory";
  expect(memory.hasRoom("a")).toBe(false);
  overload.shortage = "event_loop";
  expect(memory.hasRoom("a")).toBe(true);
});

test("an error comes after what was read before it", async () => {
  const { next } = start(["a", "b", new Error("it broke")]);
  expect(await next()).toEqual(["a"]);
  await settle();
  expect(await next()).toEqual(["b"]);
  await expect(next()).rejects.toThrow("it broke");
  expect(await next()).toBeUndefined();
});

test("what cannot begin ends", async () => {
  const { next } = start([], { openFails: new Error("refused") });
  await expect(next()).rejects.toThrow("refused");
});

test.each([[1], [2]])(
  "a reader that leaves after %i messages stops the source, whatever it waits for",
  async (count) => {
    const { ahead, next, seen, memory } = start(["a", "b", "open"]);
    for (let i = 0; i < count; i++) {
      await next();
    }
    await settle();
    await ahead.return();
    expect(seen).toMatchObject({ isDone: true });
    expect(memory.used).toBe(0);
  },
);

test("a call that is over before its source began lets it clean up", async () => {
  const { ahead, controller, seen } = start(["open"]);
  const first = ahead.next();
  controller.abort(new Error("gone"));
  await ahead.return();
  await first.catch(() => {});
  await settle();
  expect(seen).toMatchObject({ isDone: true });
});

test("a reader that takes nothing for too long is given up", async () => {
  const { next, seen, clock, memory } = start(["a", "b", "open"]);
  await next();
  await settle();
  clock.advance(59_000);
  expect(seen.isDone).toBe(false);
  clock.advance(1000);
  await settle();
  expect(seen).toMatchObject({ isDone: true, hungUp: [Code.DeadlineExceeded] });
  expect(memory.used).toBe(0);
  await expect(next()).rejects.toThrow("read too slowly");
});

test("a reader that takes enough may be behind for ever", async () => {
  const { next, seen, clock } = start(["a", ...Array.from({ length: 200 }, () => "b".repeat(4000)), "open"]);
  await next();
  await settle();
  for (let i = 0; i < 30; i++) {
    clock.advance(30_000);
    expect((await next())?.join("")).toHaveLength(4000); // 133 bytes a second
  }
  expect(seen.hungUp).toEqual([]);
});

test("a reader that trickles is given up", async () => {
  const { next, seen, clock } = start(["a", ...Array.from({ length: 200 }, () => "b".repeat(4000)), "open"]);
  await next();
  await settle();
  let minutes = 0;
  for (; seen.hungUp.length === 0 && minutes < 60; minutes++) {
    clock.advance(60_000);
    await next().catch(() => {});
  }
  expect(minutes).toBeLessThan(5);
});
