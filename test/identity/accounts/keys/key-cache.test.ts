import { expect, test } from "@jest/globals";
import { KeyCache } from "#src/identity/accounts/keys/key-cache.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

/** A store whose answers a test gives when it likes. */
function setUp() {
  const clock = new ManualClock();
  const fetches: { secret: string; answer: (value: string | undefined) => void; fail: (error: Error) => void }[] = [];
  const cache = new KeyCache<string>(
    (secret) =>
      new Promise((answer, fail) => {
        fetches.push({ secret, answer, fail });
      }),
    clock,
  );
  return { clock, fetches, cache };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("one fetch answers all who ask at the same time and those of the next seconds", async () => {
  const { clock, fetches, cache } = setUp();
  const asked = [cache.get("s"), cache.get("s"), cache.get("s")];
  expect(fetches).toHaveLength(1);
  fetches[0]?.answer("known");
  expect(await Promise.all(asked)).toEqual(["known", "known", "known"]);
  clock.advance(3_999);
  expect(cache.get("s")).toBe("known");
  expect(fetches).toHaveLength(1);
});

test("a key in use is fetched anew before its answer is too old, and nobody waits", async () => {
  const { clock, fetches, cache } = setUp();
  const first = cache.get("s");
  fetches[0]?.answer("old");
  await first;
  clock.advance(4_000);
  expect(cache.get("s")).toBe("old");
  expect(cache.get("s")).toBe("old");
  expect(fetches).toHaveLength(2);
  fetches[1]?.answer("new");
  await settled();
  clock.advance(8_999);
  expect(cache.get("s")).toBe("new");
});

test("an answer is never served when it is nine seconds old, counted from before it was asked for", async () => {
  const { clock, fetches, cache } = setUp();
  const first = cache.get("s");
  clock.advance(8_000);
  fetches[0]?.answer("slow");
  await first;
  clock.advance(999);
  expect(cache.get("s")).toBe("slow");
  fetches[1]?.fail(new Error("away"));
  await settled();
  clock.advance(1);
  const late = cache.get("s");
  expect(late).toBeInstanceOf(Promise);
  fetches[2]?.fail(new Error("still away"));
  await expect(late).rejects.toThrow("still away");
});

test("an unknown key is not asked for again for five seconds", async () => {
  const { clock, fetches, cache } = setUp();
  const first = cache.get("s");
  fetches[0]?.answer(undefined);
  expect(await first).toBeUndefined();
  clock.advance(4_999);
  expect(cache.get("s")).toBeUndefined();
  clock.advance(1);
  void cache.get("s");
  expect(fetches).toHaveLength(2);
});

test("a fetch under way does not bring back what was forgotten", async () => {
  const { fetches, cache } = setUp();
  const before = cache.get("s");
  cache.forget((value) => value === "valid");
  const after = cache.get("s");
  expect(fetches).toHaveLength(2); // who asks afterwards does not join the fetch from before
  fetches[1]?.answer("revoked");
  expect(await after).toBe("revoked");
  fetches[0]?.answer("valid");
  expect(await before).toBe("valid");
  expect(cache.get("s")).toBe("revoked");
});

test("forgetting takes only what matches", async () => {
  const { fetches, cache } = setUp();
  const asked = [cache.get("a"), cache.get("b")];
  for (const fetch of fetches) {
    fetch.answer(fetch.secret);
  }
  await Promise.all(asked);
  cache.forget((value) => value === "a");
  expect(cache.get("b")).toBe("b");
  expect(cache.get("a")).toBeInstanceOf(Promise);
});

test("a flood of unknown keys pushes out no known one", async () => {
  const { fetches, cache } = setUp();
  const known = cache.get("known");
  fetches[0]?.answer("known");
  await known;
  for (let i = 0; i < 10_500; i++) {
    void cache.get(`guess ${i}`);
  }
  for (const fetch of fetches.slice(1)) {
    fetch.answer(undefined);
  }
  await settled();
  expect(cache.get("known")).toBe("known");
  expect(cache.get("guess 0")).toBeInstanceOf(Promise); // the oldest guesses are forgotten
  expect(cache.get("guess 10499")).toBeUndefined();
});
