import { beforeEach, expect, test } from "@jest/globals";
import { CoreWatch } from "#src/money/ledger/core/core-watch.ts";
import type { CoreBeat } from "#src/money/model/store/core.ts";

let watch: CoreWatch;
beforeEach(() => {
  watch = new CoreWatch();
});

const core = (coreId: string, beats: number, epoch = 1): CoreBeat => ({ coreId, epoch, beats });
const look = (seconds: number, ...others: CoreBeat[]) =>
  watch.look(others, seconds * 1000, seconds * 1000 + 10).map(({ coreId }) => coreId);

test("a heart that stands still for 30 seconds is dead, not sooner", () => {
  for (let second = 0; second <= 30; second += 5) {
    expect(look(second, core("a", 7))).toEqual([]);
  }
  expect(look(31, core("a", 7))).toEqual(["a"]);
});

test("every beat and every new epoch begins the time anew", () => {
  for (let second = 0; second <= 100; second += 5) {
    expect(look(second, core("beats", second), core("restarts", 1, second))).toEqual([]);
  }
});

test("nobody is judged at the first look, however long ago the last beat was", () => {
  expect(look(1_000_000, core("a", 7))).toEqual([]);
});

test("a core that was kept from looking gives everybody the whole time again", () => {
  for (let second = 0; second <= 25; second += 5) {
    look(second, core("a", 7));
  }
  expect(look(60, core("a", 7))).toEqual([]);
  for (let second = 65; second <= 90; second += 5) {
    expect(look(second, core("a", 7))).toEqual([]);
  }
  expect(look(95, core("a", 7))).toEqual(["a"]);
});

test("what came late is no proof of silence: the time counts from the answer of the first look", () => {
  watch.look([core("a", 7)], 0, 9000);
  for (const at of [15, 20, 25, 30, 35, 38]) {
    expect(look(at, core("a", 7))).toEqual([]);
  }
  expect(look(39, core("a", 7))).toEqual(["a"]);
});

test("cores that are gone are forgotten", () => {
  for (let second = 0; second <= 20; second += 5) {
    look(second, core("a", 7));
  }
  look(25);
  for (let second = 30; second <= 60; second += 5) {
    expect(look(second, core("a", 7))).toEqual([]);
  }
});
