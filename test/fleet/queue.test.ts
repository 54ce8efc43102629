import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { textRequest } from "./engines/requests.ts";
import { whole } from "./fake-engine.ts";
import { fixture, settle, toReason } from "./fixture.ts";

describe("the queue", () => {
  test("holds requests until a server has room", async () => {
    const { run, engines, fleet } = fixture([1]);
    let free = () => {};
    engines[0]?.scripts.push([new Promise<void>((resolve) => (free = resolve)), ...whole]);
    const first = run();
    const second = run();
    await settle();
    expect(engines[0]?.requests).toHaveLength(1);
    expect(fleet.utilisation("m")).toBe(2);
    free();
    expect(await first).toEqual(whole);
    expect(await second).toEqual(whole);
    expect(fleet.utilisation("m")).toBe(0);
  });

  test("utilisation follows the tokens of the servers' caches where they are told", async () => {
    const servers = [{ url: "http://server-0:8000", capacity: 100, kv_tokens: 10_000 }];
    const { fleet, run, engines } = fixture([1], {}, { servers });
    let free = () => {};
    engines[0]?.scripts.push([new Promise<void>((resolve) => (free = resolve)), ...whole]);
    const all = [run(textRequest("x".repeat(4 * 8000), { maxOutputTokens: 1000 }))];
    await settle();
    expect(fleet.utilisation("m")).toBeCloseTo((8000 + 256) / 9000);
    all.push(run(textRequest("x".repeat(4 * 8000), { maxOutputTokens: 1000 })));
    await settle();
    expect(fleet.utilisation("m")).toBeCloseTo((2 * (8000 + 256)) / 9000);
    free();
    await Promise.all(all);
    expect(fleet.utilisation("m")).toBe(0);
  });

  test("gives up in time, with a time to come back", async () => {
    const { run, engines, clock } = fixture([1], { queue_timeout_s: 3 });
    engines[0]?.scripts.push(["silence"]);
    void run().catch(() => {});
    const waiting = run().catch((error) => error);
    await settle();
    clock.advance(3000);
    const detail = readDetail(await waiting);
    expect(detail?.reason).toBe(Reason.OVERLOADED);
    expect(Number(detail?.retryAfter?.seconds)).toBeGreaterThanOrEqual(1);
  });

  test("is bounded", async () => {
    const { run, engines } = fixture([1], { queue: 1 });
    engines[0]?.scripts.push(["silence"]);
    void run().catch(() => {});
    void run().catch(() => {});
    await settle();
    expect(await toReason(run())).toBe(Reason.OVERLOADED);
  });

  test("lets a caller go", async () => {
    const { run, engines, fleet } = fixture([1]);
    engines[0]?.scripts.push(["silence"]);
    void run().catch(() => {});
    const controller = new AbortController();
    const waiting = run({}, controller.signal);
    await settle();
    controller.abort(new Error("client gone"));
    await expect(waiting).rejects.toThrow("client gone");
    expect(fleet.utilisation("m")).toBe(1);
  });

  test("lets accounts take turns", async () => {
    const { run, engines } = fixture([1]);
    let free = () => {};
    engines[0]?.scripts.push([new Promise<void>((resolve) => (free = resolve)), ...whole]);
    const order: string[] = [];
    const as = (accountId: string) => run({ accountId }).then(() => order.push(accountId));
    const all = [as("first"), as("greedy"), as("greedy"), as("greedy"), as("modest")];
    await settle();
    free();
    await Promise.all(all);
    expect(order).toEqual(["first", "greedy", "modest", "greedy", "greedy"]);
  });
});
