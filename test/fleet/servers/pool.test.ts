import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { configSchema } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { RoundRobin } from "#src/fleet/routing/round-robin.ts";
import { Member } from "#src/fleet/servers/member.ts";
import { Place } from "#src/fleet/servers/place.ts";
import { Pool } from "#src/fleet/servers/pool.ts";
import type { Wish } from "#src/fleet/servers/wish.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { textRequest } from "../engines/requests.ts";
import { settle } from "../fixture.ts";

const signal = new AbortController().signal;

/** A pool of servers with room for one request each, unless said otherwise. */
function poolOf(count: number, maxWaiting = 10, server: object = { capacity: 1 }) {
  const clock = new ManualClock();
  const { models } = configSchema.parse({
    models: [{ id: "m", servers: Array.from({ length: count }, (_, i) => ({ url: `http://${i}:1`, ...server })) }],
  });
  const pool = new Pool("m", new RoundRobin(), clock, { queue: maxWaiting, reserve: 0, health_interval_s: 5 });
  const onFree = () => pool.pump();
  const members = (models[0]?.servers ?? []).map(
    (server, i) => new Member(`${i}`, "m", server, {} as Engine, { clock, openMs: 1000, onFree }),
  );
  const wish = (key = ""): Wish => ({
    ...{ route: { request: undefined, promptTokens: 0 }, key, failed: new Set() },
    deadline: clock.monotonic() + 5000,
  });
  return { pool, members, clock, wish };
}

const toReason = (failed: Promise<unknown> | (() => unknown)) =>
  Promise.resolve(typeof failed === "function" ? undefined : failed)
    .then(() => (typeof failed === "function" ? failed() : undefined))
    .then(
      () => undefined,
      (error) => readDetail(error)?.reason,
    );

describe("replacing servers", () => {
  test("gives those who wait a place on new ones, each account in turn", async () => {
    const { pool, members, wish } = poolOf(3);
    pool.replace(members.slice(0, 1));
    await pool.acquire(wish(), signal);
    const served: string[] = [];
    const waiting = ["greedy", "greedy", "modest"].map((key) =>
      Promise.resolve(pool.acquire(wish(key), signal)).then(({ member }) => served.push(`${key} on ${member.id}`)),
    );
    pool.replace(members);
    await settle();
    expect(served.sort()).toEqual([expect.stringMatching("greedy on"), expect.stringMatching("modest on")]);
    expect(pool.waiting).toBe(1);
    void waiting;
  });

  test("a request that runs on a server that left gives its place back, and nobody else gets it", async () => {
    const { pool, members, wish } = poolOf(2);
    const [first, second] = members;
    pool.replace(members.slice(0, 1));
    const place = await pool.acquire(wish(), signal);
    pool.replace(members.slice(1));
    const next = await pool.acquire(wish(), signal);
    expect([place.member, next.member]).toEqual([first, second]);
    const waiting = pool.acquire(wish(), signal);
    pool.release(place);
    await settle();
    expect(first?.inFlight).toBe(0);
    expect(pool.waiting).toBe(1);
    pool.release(next);
    expect((await waiting).member).toBe(second);
  });

  test("while there are none, requests wait, in time and number as ever", async () => {
    const { pool, members, clock, wish } = poolOf(1, 2);
    const late = pool.acquire(wish(), signal) as Promise<Place>;
    expect(late).toBeInstanceOf(Promise);
    const reason = toReason(late);
    clock.advance(5000);
    expect(await reason).toBe(Reason.OVERLOADED);
    const waiting = [wish("one"), wish("other")].map((one) => pool.acquire(one, signal));
    expect(await toReason(() => pool.acquire(wish(), signal))).toBe(Reason.OVERLOADED);
    pool.replace(members);
    expect(await waiting[0]).toBeInstanceOf(Place);
    expect(pool.waiting).toBe(1);
  });
});

describe("tokens", () => {
  /** Servers whose KV cache holds 10,000 tokens, of which 9,000 are used, and requests with so many of them. */
  function roomy(count: number) {
    const { pool, members, wish } = poolOf(count, 10, { capacity: 100, kv_tokens: 10_000 });
    pool.replace(members);
    const order: string[] = [];
    const ask = (key: string, promptTokens: number, maxOutputTokens = 1) => {
      const request = textRequest("hi", { maxOutputTokens });
      const route = { request: { ...request, requestId: "r" }, promptTokens };
      const place = pool.acquire({ ...wish(key), route }, signal);
      void Promise.resolve(place).then(() => order.push(key));
      return place;
    };
    return { pool, members, ask, order };
  }

  test("admit a request where the servers' caches have room for its prompt and its answer", async () => {
    const { pool, members, ask, order } = roomy(1);
    const first = ask("a", 4000) as Place;
    const second = ask("b", 4900) as Place;
    ask("c", 97);
    ask("d", 4000);
    await settle();
    expect([order, members[0]?.tokensInFlight]).toEqual([["a", "b", "c"], 9000]);
    pool.release(first);
    await settle();
    expect(order).toEqual(["a", "b", "c", "d"]);
    pool.release(second);
    expect(members[0]?.tokensInFlight).toBe(4001 + 98);
  });

  test("a prompt larger than all there is runs alone", async () => {
    const { pool, ask, order } = roomy(1);
    const first = ask("a", 10) as Place;
    ask("large", 50_000);
    await settle();
    expect(order).toEqual(["a"]);
    pool.release(first);
    await settle();
    expect(order).toEqual(["a", "large"]);
  });

  test("room is kept for the one whose turn it is, on one server, and others get by on the rest", async () => {
    const { pool, ask, order } = roomy(2);
    const [one, other] = [ask("a", 5000) as Place, ask("b", 6000) as Place];
    ask("large", 8500);
    for (let i = 0; i < 5; i++) {
      ask(`small-${i}`, 1000);
    }
    await settle();
    expect(order).toEqual(["a", "b", "small-0", "small-1"]); // on the fuller server; the other is kept
    pool.release(one);
    await settle();
    expect(order.at(-1)).toBe("large");
    pool.release(other);
  });

  test("a key that was served much waits for those that were served little", async () => {
    const { pool, ask, order } = roomy(1);
    const running = ["flood", "flood"].map((key) => ask(key, 4400) as Place);
    for (const key of ["flood", "flood", "modest"]) {
      ask(key, 4000);
    }
    pool.release(running[0] as Place);
    await settle();
    expect(order).toEqual(["flood", "flood", "modest"]);
  });

  test("an answer that grows beyond what was expected takes the room that it has", async () => {
    const { members, ask } = roomy(1);
    const place = ask("a", 1000, 4096) as Place;
    expect(members[0]?.tokensInFlight).toBe(1000 + 256);
    place.counted({ inputTokens: 1100, outputTokens: 300 });
    expect(members[0]?.tokensInFlight).toBe(1400);
    place.leave();
    expect(members[0]?.tokensInFlight).toBe(0);
  });
});

test("a model that is no longer served refuses those who wait and those who come", async () => {
  const { pool, members, wish } = poolOf(1);
  pool.replace(members);
  const place = await pool.acquire(wish(), signal);
  const waiting = toReason(pool.acquire(wish(), signal) as Promise<Place>);
  pool.close();
  expect(await waiting).toBe(Reason.MODEL_NOT_FOUND);
  expect(await toReason(() => pool.acquire(wish(), signal))).toBe(Reason.MODEL_NOT_FOUND);
  pool.release(place);
  expect(place.member.inFlight).toBe(0);
});
