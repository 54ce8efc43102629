import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { SnapshotReaders } from "#src/services/metering/snapshot-readers.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";

/** Readers whose open snapshots are counted. */
function start(options = {}) {
  const clock = new ManualClock();
  const readers = new SnapshotReaders(clock, options);
  const open = { now: 0, most: 0 };
  const read = (account: string | undefined, signal = new AbortController().signal) =>
    readers.read(account, signal, async function* () {
      open.now += 1;
      open.most = Math.max(open.most, open.now);
      try {
        yield 1;
        yield 2;
      } finally {
        open.now -= 1;
      }
    });
  return { clock, open, read };
}

async function all<T>(answer: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const piece of answer) {
    found.push(piece);
  }
  return found;
}

const reasonOf = (answer: Promise<unknown>) =>
  answer.then(
    () => undefined,
    (error: unknown) => readDetail(error)?.reason,
  );

test("an answer that is left unread is closed after five seconds, and says so", async () => {
  const { clock, open, read } = start();
  const answer = read("a");
  expect(await answer.next()).toEqual({ done: false, value: 1 });
  await clock.advanceAsync(4999);
  expect(open.now).toBe(1);
  await clock.advanceAsync(1);
  expect(open.now).toBe(0);
  expect(await reasonOf(answer.next())).toBe(Reason.TIMEOUT);
  expect(clock.pending).toBe(0);
});

test("an answer without a snapshot between its pieces may be left unread", async () => {
  const { clock, open, read } = start({ mayRest: true });
  const answer = read("a");
  await answer.next();
  await clock.advanceAsync(3_600_000);
  expect(await all(answer)).toEqual([2]);
  expect(open.now).toBe(0);
});

test("a slow reader that goes on reading gets all", async () => {
  const { clock, open, read } = start();
  const found: number[] = [];
  for await (const piece of read("a")) {
    found.push(piece);
    await clock.advanceAsync(4999);
  }
  expect(found).toEqual([1, 2]);
  expect(open.now).toBe(0);
});

test("an account has one snapshot at a time, and others wait for none of it", async () => {
  const { clock, open, read } = start();
  const unread = [read("a"), read("a"), read("a")];
  const first = unread.map((answer) => answer.next());
  await first[0];
  expect(open.now).toBe(1);
  expect(await all(read("b"))).toEqual([1, 2]);
  expect(await all(read(undefined))).toEqual([1, 2]);
  for (const answer of first) {
    await answer;
    await clock.advanceAsync(5000);
  }
  expect(open).toEqual({ now: 0, most: 2 });
  await Promise.all(unread.map((answer) => reasonOf(answer.next())));
  expect(await all(read("a"))).toEqual([1, 2]);
});

test("too many waiting calls of an account are refused, and one that is canceled waits no more", async () => {
  const { open, read } = start();
  const reading = read("a");
  await reading.next();
  const ending = new AbortController();
  const canceled = read("a", ending.signal).next();
  const waiting = Array.from({ length: 15 }, () => all(read("a")));
  expect(await reasonOf(read("a").next())).toBe(Reason.RATE_LIMITED);
  ending.abort();
  await expect(canceled).rejects.toThrow("canceled");
  await reading.return(undefined);
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => [1, 2]));
  expect(open).toEqual({ now: 0, most: 1 });
});
