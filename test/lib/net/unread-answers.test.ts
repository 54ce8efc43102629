import { beforeEach, expect, test } from "@jest/globals";
import { type UnreadAnswer, UnreadAnswers } from "#lib/net/unread-answers.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

let clock: ManualClock;
let cut: string[];
let unread: UnreadAnswers;
beforeEach(() => {
  clock = new ManualClock();
  cut = [];
  unread = new UnreadAnswers(1000, clock, () => cut.push("told"));
});

function waiting(name: string, owner: string, bytes: number, lateAfterMs = Number.POSITIVE_INFINITY): UnreadAnswer {
  return { owner, bytes, isLate: (ageMs) => ageMs >= lateAfterMs, giveUp: () => void cut.push(name) };
}

/** Lets seconds pass, one look after the other. */
function pass(seconds: number): void {
  for (let i = 0; i < seconds; i++) {
    clock.advance(1000);
  }
}

test("the oldest answer of whoever holds most gives way to what comes", () => {
  unread.add(waiting("small", "a", 100));
  unread.add(waiting("first", "b", 300));
  unread.add(waiting("second", "b", 500));
  expect(cut).toEqual([]);
  unread.add(waiting("third", "c", 200));
  expect(cut).toEqual(["told", "first"]);
  expect(unread.bytes).toBe(800);
});

test("one answer alone may be larger than all memory, until the next comes", () => {
  unread.add(waiting("huge", "a", 5000));
  expect(cut).toEqual([]);
  unread.add(waiting("next", "b", 10));
  expect(cut).toEqual(["told", "huge"]);
});

test("what was read counts no more", () => {
  const read = waiting("read", "a", 900);
  unread.add(read);
  unread.delete(read);
  unread.delete(read);
  unread.add(waiting("next", "b", 900));
  expect([cut, unread.bytes]).toEqual([[], 900]);
});

test("who is late is cut off, the others are not, and nobody looks once nothing waits", () => {
  const steady = waiting("steady", "a", 10);
  unread.add(waiting("slow", "a", 10, 5000));
  unread.add(steady);
  pass(4);
  expect(cut).toEqual([]);
  pass(2);
  expect(cut).toEqual(["told", "slow"]);
  unread.delete(steady);
  pass(1);
  expect([unread.bytes, clock.pending]).toEqual([0, 0]);
});
