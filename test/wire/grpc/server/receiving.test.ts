import type { ConnectError } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { Receiving } from "#src/wire/grpc/server/receiving.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

const kib = 1024;
const limits = { totalBytes: 1000 * kib, payerBytes: 400 * kib, reservedBytes: 100 * kib, smallBytes: 64 * kib };

function start() {
  const clock = new ManualClock();
  const receiving = new Receiving(limits, clock);
  const begin = (payer: string, isStream = false) => {
    const cuts: (Reason | undefined)[] = [];
    const cut = (reason: ConnectError) => void cuts.push(readDetail(reason)?.reason);
    return { cuts, ...receiving.begin(payer, cut, isStream) };
  };
  return { clock, receiving, begin };
}

test("one payer takes no more than its share, and gets it back", () => {
  const { receiving, begin } = start();
  const first = begin("a");
  expect(first.take(400 * kib)).toBe(true);
  const second = begin("a");
  expect(second.take(1)).toBe(false);
  expect(second.cuts).toEqual([Reason.OVERLOADED]);
  expect(begin("b").take(400 * kib)).toBe(true);
  first.end();
  expect(begin("a").take(400 * kib)).toBe(true);
  expect(receiving.bytes).toBe(800 * kib);
});

test("small messages get in when large ones have taken all the rest", () => {
  const { begin } = start();
  for (const payer of ["a", "b"]) {
    begin(payer).take(400 * kib);
  }
  expect(begin("c").take(101 * kib)).toBe(false);
  expect(begin("d").take(64 * kib)).toBe(true);
});

test("what is cut gives its memory back and counts no more", () => {
  const { receiving, begin } = start();
  const message = begin("a");
  message.take(399 * kib);
  expect(message.take(2 * kib)).toBe(false);
  expect(receiving.bytes).toBe(0);
  expect(message.take(1)).toBe(false);
  message.end();
  message.next();
  expect(receiving.bytes).toBe(0);
  expect(message.cuts).toHaveLength(1);
});

test.each([
  ["nothing comes", 0, 12_000],
  ["a message comes too slowly", 20 * kib, 32_000],
  ["a large one takes too long", 300 * kib, 122_000],
])("a call is cut when %s", (_what, bytes, ms) => {
  const { clock, receiving, begin } = start();
  const { cuts, take } = begin("a");
  take(bytes);
  for (let second = 0; second < ms / 1000 - 2; second += 1) {
    clock.advance(1000);
  }
  expect(cuts).toEqual([]);
  for (let second = 0; second < 3; second += 1) {
    clock.advance(1000);
  }
  expect(cuts).toEqual([Reason.TIMEOUT]);
  expect(receiving.bytes).toBe(0);
});

test("a stream may be silent between its messages, and not for ever", () => {
  const { clock, begin } = start();
  const { cuts, take, next } = begin("a", true);
  take(10);
  next();
  for (let second = 0; second < 119; second += 1) {
    clock.advance(1000);
  }
  expect(cuts).toEqual([]);
  clock.advance(1000);
  clock.advance(1000);
  expect(cuts).toEqual([Reason.TIMEOUT]);
});

test("a message that a stream begins after a silence has the time of any other", () => {
  const { clock, begin } = start();
  const { cuts, take, next } = begin("a", true);
  take(10);
  next();
  const pass = (seconds: number) => {
    for (let second = 0; second < seconds; second += 1) {
      clock.advance(1000);
    }
  };
  pass(60);
  take(16 * kib);
  pass(20);
  expect(cuts).toEqual([]);
  pass(10);
  expect(cuts).toEqual([Reason.TIMEOUT]);
});

test("what has no bytes does not lengthen a stream's silence", () => {
  const { clock, begin } = start();
  const { cuts, take, next } = begin("a", true);
  take(10);
  next();
  for (let second = 0; second < 122; second += 1) {
    clock.advance(1000);
    take(0);
  }
  expect(cuts).toEqual([Reason.TIMEOUT]);
});
