import { expect, test } from "@jest/globals";
import { Round } from "#src/money/rate-limits/round.ts";

test("idle entries are forgotten wherever they stand, and those that come meanwhile are looked at as well", () => {
  const map = new Map<string, { idle: boolean }>();
  const round = new Round(map);
  const isIdle = ({ idle }: { idle: boolean }) => idle;
  for (let key = 0; key < 100; key++) {
    map.set(`${key}`, { idle: key % 2 === 0 });
  }
  for (let call = 0; call < 60; call++) {
    round.forget(isIdle);
  }
  expect([...map.keys()].every((key) => Number(key) % 2 === 1)).toBe(true);
  expect(map.size).toBe(50);
  map.set("late", { idle: true });
  for (let call = 0; call < 60; call++) {
    round.forget(isIdle);
  }
  expect(map.has("late")).toBe(false);
});

test("a map to which each call adds an entry that is idle soon stays bounded", () => {
  const map = new Map<string, number>();
  const round = new Round(map);
  for (let now = 0; now < 10_000; now++) {
    map.set(`${now}`, now);
    round.forget((since) => since < now - 100);
  }
  expect(map.size).toBeLessThan(400);
});
