import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "@jest/globals";
import { Pieces, pieceBytes } from "#lib/net/pieces.ts";

/** A body that tells what is done to it. */
function body() {
  const done: string[] = [];
  return { done, pause: () => done.push("pause"), resume: () => done.push("resume") };
}

type Paused = Parameters<Pieces["took"]>[1];

test("a body pauses after each piece until the next turn, however small the parts that come are", async () => {
  const pieces = new Pieces();
  const one = body();
  const take = (bytes: number) => pieces.took(bytes, one as unknown as Paused, () => false);
  for (let part = 1; part < 64; part++) {
    take(1024);
  }
  expect(one.done).toEqual([]);
  take(1024);
  expect(one.done).toEqual(["pause"]);
  await nextTurn();
  expect(one.done).toEqual(["pause", "resume"]);
  take(pieceBytes);
  await nextTurn();
  expect(one.done).toEqual(["pause", "resume", "pause", "resume"]);
});

test("a body that nobody reads any more stays paused", async () => {
  const one = body();
  let isOver = false;
  new Pieces().took(pieceBytes, one as unknown as Paused, () => isOver);
  isOver = true;
  await nextTurn();
  expect(one.done).toEqual(["pause"]);
});
