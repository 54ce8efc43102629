import { expect, test } from "@jest/globals";
import { toDigest } from "#lib/ids/checked-secret.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { LiveTokens } from "#src/identity/operators/live-tokens.ts";
import { newOperatorToken } from "#src/identity/operators/operator-token.ts";
import type { Operator } from "#src/storage/entities/operators/operator.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

function setUp() {
  const clock = new ManualClock();
  const stored = new Map<string, Operator>();
  const state = { reads: 0, away: false };
  const tokens = new LiveTokens(async () => {
    state.reads += 1;
    if (state.away) {
      throw new Error("connection refused");
    }
    return [...stored.values()];
  }, clock);
  const add = (name: string) => {
    const token = newOperatorToken(systemRandom);
    const digest = toDigest(token);
    stored.set(name, { id: name, name, role: "reader", digest, createdAt: new Date(), revokedAt: null });
    return token;
  };
  return { tokens, clock, stored, state, add };
}

test("a token is known by one reading, whoever asks", async () => {
  const { tokens, state, add } = setUp();
  const token = add("Ada");
  const found = await Promise.all([tokens.find(token), tokens.find(token), tokens.find(token)]);
  expect(found.map((operator) => operator?.name)).toEqual(["Ada", "Ada", "Ada"]);
  expect(state.reads).toBe(1);
});

test("a token revoked on another core is refused within ten seconds, used all the time or not", async () => {
  for (const stepMs of [500, 9_000]) {
    const { tokens, clock, stored, add } = setUp();
    const token = add("Ada");
    await tokens.find(token);
    stored.delete("Ada");
    for (let passed = 0; passed + stepMs <= 9_500 && (await tokens.find(token)) !== undefined; passed += stepMs) {
      clock.advance(stepMs);
    }
    expect(await tokens.find(token)).toBeUndefined();
  }
});

test("a token revoked on this core is refused at once, also while an older answer is on its way", async () => {
  const { tokens, stored, add } = setUp();
  const token = add("Ada");
  const before = tokens.find(token);
  stored.delete("Ada");
  tokens.forget();
  await before;
  expect(await tokens.find(token)).toBeUndefined();
});

test("a token that another core has just made is known; a flood of unknown ones asks four times a second", async () => {
  const { tokens, clock, state, add } = setUp();
  await tokens.find(add("Ada"));
  clock.advance(250);
  expect((await tokens.find(add("Ben")))?.name).toBe("Ben");
  for (let i = 0; i < 1000; i++) {
    expect(await tokens.find(newOperatorToken(systemRandom))).toBeUndefined();
  }
  expect(state.reads).toBe(2);
});

test("what is no token asks nothing", async () => {
  const { tokens, state, add } = setUp();
  const token = add("Ada");
  for (const text of ["", "tgop_", token.slice(0, -1), `${token}0`, token.replace("tgop_", "tgop-")]) {
    expect(await tokens.find(text)).toBeUndefined();
  }
  expect(state.reads).toBe(0);
});

test("an answer that is too old is not used while the store is away", async () => {
  const { tokens, clock, state, add } = setUp();
  const token = add("Ada");
  await tokens.find(token);
  state.away = true;
  clock.advance(8_999);
  expect((await tokens.find(token))?.name).toBe("Ada");
  clock.advance(1);
  await expect(tokens.find(token)).rejects.toThrow("refused");
});

test("an answer that a change on this core has overtaken is asked for anew, and what was known before is not told", async () => {
  const { tokens, stored, state, add } = setUp();
  const [ada, bob] = [add("Ada"), add("Bob")];
  await tokens.find(ada);
  stored.delete("Ada");
  tokens.forget();
  const found = Promise.all([tokens.find(ada), tokens.find(bob)]);
  tokens.forget(); // another operator was changed meanwhile
  expect(await found).toMatchObject([undefined, { name: "Bob" }]);
  expect(state.reads).toBe(3);
});
