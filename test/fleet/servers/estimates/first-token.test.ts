import { expect, test } from "@jest/globals";
import { FirstToken } from "#src/fleet/servers/estimates/first-token.ts";
import { SeededRandom } from "../../seeded-random.ts";

test.each<[string, (tokens: number) => number]>([
  ["a fast server", (tokens) => 20 + tokens / 40],
  ["a slow one that also takes its time before it reads", (tokens) => 900 + tokens / 2],
  ["one that takes as long for any prompt", () => 300],
])("learns how long %s takes to a first token", (_, truth) => {
  const random = new SeededRandom(2);
  const learned = new FirstToken();
  for (let request = 0; request < 300; request++) {
    const tokens = random.between(100, 20_000);
    learned.learn(tokens, truth(tokens) * (0.9 + 0.2 * random.fraction()));
  }
  for (const tokens of [1000, 8000, 16_000]) {
    expect(learned.predict(tokens) / truth(tokens)).toBeGreaterThan(0.8);
    expect(learned.predict(tokens) / truth(tokens)).toBeLessThan(1.2);
  }
});

test("follows a server that has become slower", () => {
  const learned = new FirstToken();
  for (const factor of [1, 5]) {
    for (let request = 0; request < 300; request++) {
      learned.learn(100 * (request % 50), factor * (10 + 10 * (request % 50)));
    }
    expect(learned.predict(2000)).toBeCloseTo(factor * 210, -2);
  }
});

test.each([0, 5000])("is a number above or at zero when all requests have the same %d tokens", (same) => {
  const learned = new FirstToken();
  for (let request = 0; request < 2000; request++) {
    learned.learn(same, request % 2 === 0 ? 0 : Number.MAX_VALUE);
  }
  for (const tokens of [0, 100, 1e9]) {
    expect(learned.predict(tokens)).toBeGreaterThanOrEqual(0);
    expect(learned.predict(tokens)).toBeLessThan(Number.POSITIVE_INFINITY);
  }
});
