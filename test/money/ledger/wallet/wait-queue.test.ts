import { expect, test } from "@jest/globals";
import { WaitQueue } from "#src/money/ledger/wallet/wait-queue.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const lookAgainMs = 250;
const never = new AbortController().signal;

function open() {
  const clock = new ManualClock(0, false);
  const queue = new WaitQueue(clock, lookAgainMs);
  const outcomes: string[] = [];
  const enter = (name: string, patienceMs = 10_000, signal: AbortSignal = never, budgetId?: string) => {
    const ticket = queue.enter(patienceMs, signal, budgetId);
    const turn = () =>
      void ticket.turn().then(
        (isItsTurn) => outcomes.push(`${name} ${isItsTurn}`),
        (error: Error) => outcomes.push(`${name} ${error.name}`),
      );
    return { ...ticket, turn };
  };
  return { clock, queue, outcomes, enter };
}

test("the first has its turn at once, and then looks again now and then; those behind it sleep until it leaves", async () => {
  const { clock, outcomes, enter } = open();
  const [first, second, third] = [enter("first"), enter("second"), enter("third")];
  first.turn();
  second.turn();
  third.turn();
  await clock.advanceAsync(0);
  expect(outcomes).toEqual(["first true"]);
  first.turn();
  await clock.advanceAsync(lookAgainMs - 1);
  expect(outcomes).toEqual(["first true"]);
  await clock.advanceAsync(1);
  expect(outcomes).toEqual(["first true", "first true"]);
  await clock.advanceAsync(10 * lookAgainMs);
  expect(outcomes).toHaveLength(2);
  first.leave();
  await clock.advanceAsync(0);
  expect(outcomes).toEqual(["first true", "first true", "second true"]);
  second.turn(); // nobody said that anything has changed since
  await clock.advanceAsync(lookAgainMs);
  expect(outcomes.slice(3)).toEqual(["second true"]);
  second.leave();
  await clock.advanceAsync(0);
  expect(outcomes.slice(4)).toEqual(["third true"]);
});

test("what changes while the first looks lets it look once more at once", async () => {
  const { clock, queue, outcomes, enter } = open();
  const first = enter("first");
  first.turn();
  await clock.advanceAsync(0);
  queue.changed();
  first.turn();
  await clock.advanceAsync(0);
  expect(outcomes).toEqual(["first true", "first true"]);
});

test("patience ends at its time wherever one stands, and an abort at once", async () => {
  const { clock, outcomes, enter } = open();
  const client = new AbortController();
  const first = enter("first", 1000);
  first.turn();
  await clock.advanceAsync(0);
  enter("second", 600).turn();
  enter("third", 10_000, client.signal).turn();
  await clock.advanceAsync(599);
  expect(outcomes).toEqual(["first true"]);
  await clock.advanceAsync(1);
  expect(outcomes).toEqual(["first true", "second false"]);
  client.abort();
  await clock.advanceAsync(0);
  expect(outcomes.slice(2)).toEqual(["third AbortError"]);
  await clock.advanceAsync(400);
  first.turn();
  await clock.advanceAsync(0);
  expect(outcomes.slice(3)).toEqual(["first false"]);
});

test("who waits for a budget is passed by all but those of the same budget, and keeps its place", async () => {
  const { clock, queue, outcomes, enter } = open();
  const enterOf = (name: string, budgetId: string) => enter(name, 10_000, never, budgetId);
  const [first, second] = [enterOf("first", "budget"), enterOf("second", "budget")];
  first.turn();
  second.turn();
  const third = enter("third");
  third.turn();
  const fourth = enterOf("fourth", "other budget");
  fourth.turn();
  await clock.advanceAsync(0);
  first.wait(true);
  first.turn();
  await clock.advanceAsync(0);
  expect(outcomes).toEqual(["first true", "third true"]);
  expect([queue.isOpen(undefined), queue.isOpen("budget"), queue.isOpen("other budget")]).toEqual([
    false,
    false,
    false,
  ]);
  third.leave();
  await clock.advanceAsync(0);
  expect(outcomes.slice(2)).toEqual(["fourth true"]);
  fourth.leave();
  expect([queue.isOpen(undefined), queue.isOpen("budget"), queue.isOpen("other budget")]).toEqual([true, false, true]);
  queue.changed();
  const fifth = enter("fifth");
  fifth.turn();
  await clock.advanceAsync(0);
  expect(outcomes.slice(3)).toEqual(["fifth true", "first true"]);
  fifth.turn();
  await clock.advanceAsync(0);
  first.wait(false); // its budget has enough, and the account's money is held
  await clock.advanceAsync(lookAgainMs);
  expect(outcomes.slice(5)).toEqual([]);
  expect(queue.isOpen(undefined)).toBe(false);
  first.leave();
  await clock.advanceAsync(0);
  expect(outcomes.slice(5)).toEqual(["second true"]);
  second.leave();
  await clock.advanceAsync(0);
  expect(outcomes.slice(6)).toEqual(["fifth true"]);
});

test("whoever comes has a turn at once where nobody waits, or nobody but those who lack another budget", () => {
  const { queue } = open();
  expect([queue.empty, queue.isOpen(undefined), queue.isOpen("one")]).toEqual([true, true, true]);
  const first = queue.enter(10_000, never, "one");
  expect([queue.empty, queue.isOpen(undefined), queue.isOpen("two")]).toEqual([false, false, false]);
  first.wait(true);
  expect([queue.isOpen(undefined), queue.isOpen("two"), queue.isOpen("one")]).toEqual([true, true, false]);
  first.leave();
  expect([queue.empty, queue.isOpen("one")]).toEqual([true, true]);
});

test("a request that was given up before its turn has none", async () => {
  const { clock, outcomes, enter } = open();
  enter("first", 10_000, AbortSignal.abort()).turn();
  await clock.advanceAsync(0);
  expect(outcomes).toEqual(["first AbortError"]);
});

test("what becomes free in the moment in which a request's time is over comes too late for it", async () => {
  const { clock, queue, outcomes, enter } = open();
  const first = enter("first", lookAgainMs);
  first.turn();
  await clock.advanceAsync(0);
  first.turn();
  clock.after(lookAgainMs, () => queue.changed());
  await clock.advanceAsync(lookAgainMs);
  expect(outcomes).toEqual(["first true", "first false"]);
});
