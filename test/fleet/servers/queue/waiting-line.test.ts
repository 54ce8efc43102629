import { expect, test } from "@jest/globals";
import { WaitingLine } from "#src/fleet/servers/queue/waiting-line.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

/** A line of waiters by their keys, in the order of their arrival; each turn takes one place. */
function lineOf(keys: string, held: Record<string, number> = {}) {
  const line = new WaitingLine<{ key: string; deadline: number }>((key) => held[key] ?? 0, new ManualClock());
  [...keys].forEach((key, deadline) => {
    line.push({ key, deadline });
  });
  const serve = ({ key }: { key: string }) => {
    held[key] = (held[key] ?? 0) + 1;
    order += key;
    return true;
  };
  let order = "";
  const serveAll = () => {
    while (line.serveNext(serve)) {}
    return order;
  };
  return { line, serveAll };
}

test.each<[string, string, Record<string, number>, string]>([
  ["keys that have had the same take turns", "aaabbc", {}, "abcaba"],
  ["a key that has had less goes first", "aaab", { a: 5 }, "baaa"],
  ["until it has had as much", "aabbb", { a: 2 }, "bbabab".slice(0, 5)],
])("%s", (_, keys, held, order) => {
  const { line, serveAll } = lineOf(keys, held);
  expect(serveAll()).toBe(order);
  expect(line.length).toBe(0);
});

test("a waiter that cannot be served now is passed over", () => {
  const { line } = lineOf("ab");
  const served: string[] = [];
  const onlyB = ({ key }: { key: string }) => key === "b" && served.push(key) > 0;
  expect([line.serveNext(onlyB), line.serveNext(onlyB)]).toEqual([true, false]);
  expect([served, line.length]).toEqual([["b"], 1]);
});
