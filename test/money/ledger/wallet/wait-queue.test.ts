import { expect, test } from "@jest/globals";
import { WaitQueue } from "#src/money/ledger/wallet/wait-queue.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const lookAgainMs = 250;
const never = new AbortController().signal;

function open() {
  const clock = new ManualClock(0, false);
  const queue = new WaitQueue(clock, lookAgainMs);
  const outcomes: string[] = [];
  const enter = (name: string, patienceMs = 10_000, signal: AbortSignal = never) => {
    const ticket = queue.enter(patienceMs, signal);
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
