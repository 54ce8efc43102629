import { describe, expect, test } from "@jest/globals";
import { watchStream } from "#src/wire/interceptors/watch-stream.ts";

/** Watches a stream and notes how often and with what it ended. */
function watched(messages: () => AsyncGenerator<number>) {
  const ends: unknown[] = [];
  const stream = watchStream(messages(), (error) => {
    ends.push(error);
    return error && new Error("translated", { cause: error });
  });
  return { ends, reader: stream[Symbol.asyncIterator]() };
}

describe("a watched stream", () => {
  test("passes on what comes and tells once that it is complete", async () => {
    const { ends, reader } = watched(async function* () {
      yield 1;
    });
    expect(await reader.next()).toEqual({ done: false, value: 1 });
    expect(ends).toEqual([]);
    expect(await reader.next()).toMatchObject({ done: true });
    await reader.next();
    await reader.return?.();
    expect(ends).toEqual([undefined]);
  });

  test("tells once that it failed and goes on with the translated error", async () => {
    const bug = new Error("bug");
    const { ends, reader } = watched(async function* () {
      yield 1;
      throw bug;
    });
    await reader.next();
    await expect(reader.next()).rejects.toMatchObject({ message: "translated", cause: bug });
    await reader.return?.();
    expect(ends).toEqual([bug]);
  });

  test("closes its source and tells once when its reader leaves", async () => {
    let closed = false;
    const { ends, reader } = watched(async function* () {
      try {
        yield 1;
      } finally {
        closed = true;
      }
    });
    await reader.next();
    expect(await reader.return?.()).toEqual({ done: true, value: undefined });
    expect(closed).toBe(true);
    expect(ends).toEqual([undefined]);
  });

  test("fails when its source fails to close", async () => {
    const bug = new Error("bug");
    const { ends, reader } = watched(async function* () {
      try {
        yield 1;
      } finally {
        // biome-ignore lint/correctness/noUnsafeFinally: that is the case
        throw bug;
      }
    });
    await reader.next();
    await expect(reader.return?.()).rejects.toMatchObject({ message: "translated", cause: bug });
    expect(ends).toEqual([bug]);
  });

  test("tells all who watch it, the innermost first, each with what the one before made of the error", async () => {
    const told: unknown[] = [];
    const watch = (name: string) => (error?: unknown) => {
      told.push([name, error]);
      return error === undefined ? undefined : `${name} of ${error}`;
    };
    const failing = async function* () {
      yield 1;
      throw "bug";
    };
    const reader = watchStream(watchStream(failing(), watch("inner")), watch("outer"))[Symbol.asyncIterator]();
    await reader.next();
    await expect(reader.next()).rejects.toBe("outer of inner of bug");
    expect(told).toEqual([
      ["inner", "bug"],
      ["outer", "inner of bug"],
    ]);
  });
});
