import { describe, expect, test } from "@jest/globals";
import { configSchema } from "#src/config/schema.ts";
import type { Engine } from "#src/fleet/engines/interface.ts";
import { RoundRobin } from "#src/fleet/routing/round-robin.ts";
import { Member } from "#src/fleet/servers/member.ts";
import { Pool } from "#src/fleet/servers/pool.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { textRequest } from "../engines/requests.ts";
import { settle } from "../fixture.ts";

/** A pool with one server. */
function poolOf(server: object, reserve?: number) {
  const clock = new ManualClock();
  const { models, fleet } = configSchema.parse({
    fleet: reserve === undefined ? {} : { reserve },
    models: [{ id: "m", context_length: 131_072, servers: [{ url: "http://0:1", ...server }] }],
  });
  const pool = new Pool("m", new RoundRobin(), clock, fleet);
  const settings = { clock, openMs: 1000, onFree: () => pool.pump() };
  pool.replace((models[0]?.servers ?? []).map((config) => new Member("0", "m", config, {} as Engine, settings)));
  const ask = (key: string, promptTokens = 0) => {
    const request = { ...textRequest("hi", { maxOutputTokens: 1 }), requestId: "r" };
    const route = { request: promptTokens === 0 ? undefined : request, promptTokens };
    const deadline = clock.monotonic() + 5000;
    return pool.acquire({ route, key, failed: new Set(), deadline }, new AbortController().signal);
  };
  /** Whether a request gets a place at once. */
  const gets = (key: string, promptTokens?: number): boolean => {
    const waiting = pool.waiting;
    void Promise.resolve(ask(key, promptTokens)).then((place) => pool.began(place));
    return pool.waiting === waiting;
  };
  /** Asks until one has to wait. Returns how many have not. */
  const fill = async (key: string, promptTokens?: number): Promise<number> => {
    for (let places = 0; places < 1000; places++) {
      if (!gets(key, promptTokens)) {
        return places;
      }
      await settle();
    }
    throw new Error("nobody has to wait");
  };
  return { pool, ask, gets, fill };
}

describe("of places", () => {
  test.each([
    { capacity: 1, alone: 1 },
    { capacity: 2, alone: 2 },
    { capacity: 3, alone: 3 },
    { capacity: 4, alone: 3 },
    { capacity: 8, alone: 7 },
    { capacity: 64, alone: 56 },
    { capacity: 256, alone: 224 },
    { capacity: 64, reserve: 0, alone: 64 },
    { capacity: 64, reserve: 0.5, alone: 32 },
  ])("of $capacity an account alone takes $alone with a reserve of $reserve", async ({ capacity, reserve, alone }) => {
    const { fill } = poolOf({ capacity }, reserve);
    expect(await fill("one")).toBe(alone);
  });

  test("whoever comes gets one at once, many accounts after each other, although one has as many as it may", async () => {
    const { gets, fill } = poolOf({ capacity: 64 });
    await fill("large");
    for (let account = 0; account < 8; account++) {
      expect(gets(`small ${account}`)).toBe(true);
    }
  });

  test("two large accounts leave one to whoever comes", async () => {
    const { gets, fill } = poolOf({ capacity: 64 });
    await fill("first");
    expect(await fill("second")).toBe(7);
    expect(gets("small")).toBe(true);
  });

  test("one that waits for its share gets a place as soon as it has fewer", async () => {
    const { pool, fill, ask } = poolOf({ capacity: 8 });
    const place = await ask("one");
    expect(await fill("one")).toBe(6);
    expect(pool.waiting).toBe(1);
    pool.release(place);
    expect(pool.waiting).toBe(0);
  });
});

describe("of KV caches", () => {
  test("an account alone takes seven eighths, and another one's prompt has room at once", async () => {
    const { fill, gets } = poolOf({ capacity: 1000, kv_tokens: 100_000 });
    expect(await fill("one", 1000)).toBe(78); // of 89 that fit
    expect(gets("other", 10_000)).toBe(true);
  });

  test("a prompt that is larger than its share runs while its account has nothing else", () => {
    const { gets } = poolOf({ capacity: 1000, kv_tokens: 100_000 });
    expect(gets("one", 95_000)).toBe(true);
    expect(gets("one", 10)).toBe(false);
  });
});
