import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { charge, pass, scriptedSettler, states } from "./scripted-settler.ts";

const given = scriptedSettler();

test("an impossible charge is put aside alone; its group is stored, and its caller is told", async () => {
  given.behave = (ids) => (ids.includes("bad") ? "refuse" : "take");
  const good = [given.settler.settle(charge("a")), given.settler.settle(charge("b"))];
  const bad = given.settler.settle(charge("bad")).catch((error: unknown) => readDetail(error)?.reason);
  await given.clock.advanceAsync(10);
  await Promise.all(good);
  expect(await bad).toBe(Reason.LEDGER_UNAVAILABLE);
  expect(given.stored).toEqual(["a", "b"]);
  expect(given.letters).toEqual(["bad: impossible"]);
  expect(given.events.toSorted()).toEqual(["a stored", "b stored", "bad refused"]);
  expect(given.settler.backlog).toBe(0);
});

test("a charge that the store chokes on for what it says is put aside too, whatever the error", async () => {
  given.behave = (ids) => (ids.includes("bad") ? "fail" : "take");
  const good = given.settler.settle(charge("a"));
  const bad = given.settler.settle({ ...charge("bad"), outputTokens: 1e300 }).catch(() => "refused");
  await given.clock.advanceAsync(10);
  await good;
  expect(await bad).toBe("refused");
  expect(given.letters).toEqual([expect.stringContaining("bad: its outputTokens, 1e+300")]);
});

test("while there is no room for what is given up it is promised, holds nobody up, and is not forgotten", async () => {
  given.letters = undefined;
  given.behave = (ids) => (ids.includes("bad") ? "refuse" : "take");
  const bad = given.settler.settle(charge("bad"));
  await given.clock.advanceAsync(1000);
  await bad;
  expect(given.promised).toEqual(["bad"]);
  expect(await states([given.settler.settle(charge("a"))])).toEqual(["waiting"]);
  await given.clock.advanceAsync(10);
  expect(given.stored).toEqual(["a"]);
  expect(given.events).toEqual(["a stored"]);
  given.letters = [];
  await given.clock.advanceAsync(5000);
  expect(given.letters).toEqual(["bad: impossible"]);
  expect(given.events).toEqual(["a stored", "bad refused"]);
});

test.each(["fenced", "bad"])(
  "a charge that is %s is promised after a tenth of a second where its next step takes longer",
  async (id) => {
    given.letterMs = 5000;
    given.renew = async () => {
      await pass(given.clock, 5000);
      return charge("again");
    };
    given.behave = (ids) => (ids.includes("bad") ? "refuse" : "take");
    const settled = given.settler.settle(charge(id));
    await given.clock.advanceAsync(50);
    expect(given.promised).toEqual([]);
    await given.clock.advanceAsync(100);
    await settled;
    expect(given.promised).toEqual([id]);
    await given.clock.advanceAsync(5000);
    expect([...given.stored, ...(given.letters ?? [])]).toEqual([id === "bad" ? "bad: impossible" : "again"]);
    await given.clock.advanceAsync(1000);
    expect(given.promised).toEqual([id]);
  },
);
