import { expect, test } from "@jest/globals";
import { LargeBodies } from "../../../../facades/http/request/large-bodies.ts";

// Which large bodies of a key may be read; test/facades/http/floods/large-bodies.test.ts has them on the wire.

function start(first: number | undefined) {
  const large = new LargeBodies();
  const core = { room: first, isRefused: false, asked: 0 };
  const entered: number[] = [];
  const refused: number[] = [];
  const enter = (at: number, key = "k") =>
    large
      .enter(key, async () => {
        core.asked += 1;
        if (core.isRefused) {
          throw new Error("refused");
        }
        return { accountId: "a", room: core.room };
      })
      .then(
        () => void entered.push(at),
        () => void refused.push(at),
      );
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { large, core, entered, refused, enter, settle };
}

test("as many are read at a time as the key's rate has room for, the others in their order", async () => {
  const { large, core, entered, enter, settle } = start(2);
  for (let at = 0; at < 4; at += 1) {
    void enter(at);
  }
  await settle();
  expect(entered).toEqual([0, 1]);
  core.room = 1;
  large.leave("k");
  await settle();
  expect(entered).toEqual([0, 1]); // the one under way has the room
  large.leave("k");
  await settle();
  expect(entered).toEqual([0, 1, 3]);
});

test("without room one is read, and once it is refused the others are refused without being read", async () => {
  const { large, core, entered, refused, enter, settle } = start(0);
  for (let at = 0; at < 8; at += 1) {
    void enter(at);
  }
  await settle();
  expect(entered).toEqual([0]);
  core.isRefused = true;
  large.leave("k");
  await settle();
  expect([entered, refused]).toEqual([[0], [1, 2, 3, 4, 5, 6, 7]]);
});

test("another key waits for nobody, and neither does one whose core tells no rate", async () => {
  const { core, entered, enter, settle } = start(0);
  void enter(0);
  void enter(1);
  void enter(2, "other");
  await settle();
  core.room = undefined;
  void enter(3);
  await settle();
  expect(entered).toEqual([0, 2, 3]);
});
