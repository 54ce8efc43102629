import { getEventListeners } from "node:events";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { createCallSignal } from "#src/wire/grpc/call-signal.ts";
import { pause } from "../../support/pause.ts";

const own = new ConnectError("own reason", Code.Aborted);

describe("a call's signal", () => {
  test.each([
    ["an error of ours", own, own],
    ["any other error", new Error("enough"), { code: Code.Canceled, rawMessage: "enough" }],
    ["no reason", undefined, { code: Code.Canceled }],
  ])("aborts with the caller's, who gives %s", (_what, reason, expected) => {
    const caller = new AbortController();
    const { signal } = createCallSignal(caller.signal, undefined);
    caller.abort(reason);
    expect(signal.reason).toMatchObject(expected);
  });

  test("is aborted from the start when the caller's is", () => {
    const { signal } = createCallSignal(AbortSignal.abort(own), undefined);
    expect(signal.reason).toBe(own);
  });

  test("aborts at the time limit", async () => {
    const { signal } = createCallSignal(undefined, 5);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    expect(signal.reason).toMatchObject({ code: Code.DeadlineExceeded });
  });

  test("takes a time limit longer than a timer can run for none", async () => {
    const { signal } = createCallSignal(undefined, 2 ** 31);
    await pause(20, "a timer that overflowed would fire at once");
    expect(signal.aborted).toBe(false);
  });

  test("ends once, with the first reason", () => {
    const caller = new AbortController();
    const life = createCallSignal(caller.signal, 60_000);
    life.abort(own);
    life.complete();
    caller.abort();
    expect(life.signal.reason).toBe(own);
  });

  test("aborts when the call is complete, for what hangs on it", () => {
    const life = createCallSignal(undefined, undefined);
    life.complete();
    expect(life.signal.reason).toMatchObject({ code: Code.Canceled });
  });

  test("is aborted when it is asked for after the end", () => {
    const life = createCallSignal(undefined, undefined);
    life.abort(own);
    expect(life.signal.aborted).toBe(true);
    expect(life.signal.reason).toBe(own);
  });

  test("leaves the caller's signal when the call is over", () => {
    const caller = new AbortController();
    const life = createCallSignal(caller.signal, undefined);
    life.complete();
    expect(getEventListeners(caller.signal, "abort")).toEqual([]);
  });
});

test("who waits for a call's end hears of it once, with its reason", () => {
  const life = createCallSignal(undefined, undefined);
  const heard: unknown[] = [];
  life.onEnd(() => heard.push(life.reason));
  expect(life.reason).toBeUndefined();
  life.abort(own);
  life.complete();
  expect(heard).toEqual([own]);
});

test("who comes after a call's end hears of it at once", () => {
  const life = createCallSignal(AbortSignal.abort(own), undefined);
  const heard: unknown[] = [];
  life.onEnd(() => heard.push(life.reason));
  expect(heard).toEqual([own]);
});
