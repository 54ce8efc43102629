import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf } from "../../../lib/errors/detail.ts";
import { configSchema } from "../../../src/config/schema.ts";
import type { Engine } from "../../../src/engines/interface.ts";
import { RoundRobin } from "../../../src/fleet/routing/round-robin.ts";
import { Member } from "../../../src/fleet/servers/member.ts";
import { Place, Pool, type Wish } from "../../../src/fleet/servers/pool.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { settle } from "../fixture.ts";

const signal = new AbortController().signal;

/** A pool of servers with room for one request each. */
function poolOf(count: number, maxWaiting = 10) {
  const clock = new ManualClock();
  const { models } = configSchema.parse({
    models: [{ id: "m", servers: Array.from({ length: count }, (_, i) => ({ url: `http://${i}:1`, capacity: 1 })) }],
  });
  const pool = new Pool("m", new RoundRobin(), clock, maxWaiting);
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
      (error) => detailOf(error)?.reason,
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
