import { expect, test } from "@jest/globals";
import { NetworkTurns } from "#lib/door/network-turns.ts";

/** Turns that are made by hand. */
function start() {
  const due: (() => void)[] = [];
  const turns = new NetworkTurns((run) => due.push(run));
  const begun: string[] = [];
  const take = (address: string, most: number, count: number) => {
    for (let left = count; left > 0; left--) {
      turns.take(address, most, () => begun.push(address));
    }
  };
  const turn = () => {
    for (const run of due.splice(0)) {
      run();
    }
    return begun.splice(0);
  };
  return { take, begun, turn, due };
}

test("a network begins so many at once, and the others in the next turns, in their order", () => {
  const { take, begun, turn, due } = start();
  take("192.0.2.1", 2, 3);
  take("192.0.2.2", 2, 2); // of the same network
  expect(begun.splice(0)).toEqual(["192.0.2.1", "192.0.2.1"]);
  expect(turn()).toEqual(["192.0.2.1", "192.0.2.2"]);
  expect(turn()).toEqual(["192.0.2.2"]);
  expect(turn()).toEqual([]);
  expect(due).toEqual([]); // a process at rest waits for no turn
});

test("nobody else waits, and who waits is not overtaken by a newcomer of the same network", () => {
  const { take, begun, turn } = start();
  take("192.0.2.1", 1, 3);
  take("198.51.100.1", 1, 1);
  expect(begun.splice(0)).toEqual(["192.0.2.1", "198.51.100.1"]);
  take("192.0.2.9", 1000, 1);
  expect(begun).toEqual([]);
  expect([turn(), turn()]).toEqual([["192.0.2.1"], ["192.0.2.1", "192.0.2.9"]]);
});

test("what begins in a turn counts for what comes later in it", () => {
  const { take, begun, turn } = start();
  take("192.0.2.1", 1, 2);
  expect(begun.splice(0)).toHaveLength(1);
  expect(turn()).toHaveLength(1);
  take("192.0.2.1", 1, 1);
  expect(begun).toEqual([]);
  expect(turn()).toHaveLength(1);
});
