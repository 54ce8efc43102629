import { expect, test } from "@jest/globals";
import { charge, scriptedSettler, states } from "./scripted-settler.ts";

const given = scriptedSettler();

test("charges that end together are one commit, at once", async () => {
  const promises = ["a", "b", "c"].map((id) => given.settler.settle(charge(id)));
  expect(await states(promises)).toEqual(["waiting", "waiting", "waiting"]);
  await given.clock.advanceAsync(0);
  expect(given.groups).toEqual([3]);
  expect(await states(promises)).toEqual(["durable", "durable", "durable"]);
  expect(given.events).toEqual(["a stored", "b stored", "c stored"]);
});

test("charges that come one by one, each when the one before is durable, wait for nobody", async () => {
  for (const id of ["a", "b", "c"]) {
    const promise = given.settler.settle(charge(id));
    await given.clock.advanceAsync(0);
    expect(await states([promise])).toEqual(["durable"]);
  }
  expect(given.groups).toEqual([1, 1, 1]);
});

test("charges that come close to each other wait for others for a few milliseconds, and only as long as they do", async () => {
  const first = ["a", "b"].map((id) => given.settler.settle(charge(id)));
  await given.clock.advanceAsync(1);
  const second = ["c", "d"].map((id) => given.settler.settle(charge(id)));
  await given.clock.advanceAsync(3);
  expect(await states([...first, ...second])).toEqual(["durable", "durable", "waiting", "waiting"]);
  const third = given.settler.settle(charge("e"));
  await given.clock.advanceAsync(1);
  expect(await states([...second, third])).toEqual(["durable", "durable", "durable"]);
  await given.clock.advanceAsync(1000);
  const alone = given.settler.settle(charge("f"));
  await given.clock.advanceAsync(0);
  expect(await states([alone])).toEqual(["durable"]);
  expect(given.groups).toEqual([2, 3, 1]);
});

test("charges that came during a slow commit go together as soon as it is over", async () => {
  given.behave = () => (given.groups.length === 1 ? "hang" : "take");
  const promises = [given.settler.settle(charge("a"))];
  for (const id of ["b", "c"]) {
    await given.clock.advanceAsync(100);
    promises.push(given.settler.settle(charge(id)));
  }
  await given.clock.advanceAsync(298);
  expect(given.groups).toEqual([1]);
  await given.clock.advanceAsync(3);
  expect(given.groups).toEqual([1, 2]);
  await Promise.all(promises);
  expect(given.stored).toEqual(["a", "b", "c"]);
});

test("a store that is away for a while loses nothing; meanwhile the journal promises", async () => {
  given.behave = () => "fail";
  const first = given.settler.settle(charge("a"));
  await given.clock.advanceAsync(1000);
  expect(await states([first])).toEqual(["durable"]);
  expect(given.promised).toEqual(["a"]);
  const second = given.settler.settle(charge("b"));
  await given.clock.advanceAsync(1000);
  expect(await states([second])).toEqual(["durable"]);
  expect(given.stored).toEqual([]);
  given.behave = () => "take";
  await given.clock.advanceAsync(1000);
  expect(given.stored).toEqual(["a", "b"]);
  expect(given.events).toEqual(["a stored", "b stored"]);
});

test("a slow store has its charges promised after a tenth of a second", async () => {
  given.behave = () => "hang";
  const first = given.settler.settle(charge("a"));
  await given.clock.advanceAsync(99);
  expect(given.promised).toEqual([]);
  await given.clock.advanceAsync(10);
  expect(await states([first])).toEqual(["durable"]);
  const second = given.settler.settle(charge("b"));
  await given.clock.advanceAsync(110);
  expect(await states([second])).toEqual(["durable"]);
  expect(given.promised).toEqual(["a", "b"]);
  await given.clock.advanceAsync(2000);
  expect(given.stored).toEqual(["a", "b"]);
});

test("a lost reply is not a second charge, and not mistaken for somebody else's", async () => {
  given.behave = (_ids) => (given.groups.length === 1 ? "fail after taking" : "take");
  const first = given.settler.settle(charge("a"));
  await given.clock.advanceAsync(1000);
  await first;
  expect(given.stored).toEqual(["a"]);
  expect(given.events).toEqual(["a stored"]);
  expect(given.remembered).toEqual(["a"]);
  void given.settler.settle(charge("a"));
  await given.clock.advanceAsync(10);
  expect(given.events).toEqual(["a stored", "a repeated"]);
  expect(given.remembered).toEqual(["a"]);
});

test("what a journal remembers is concluded record by record: stored, known, fenced, put aside", async () => {
  given.stored.push("known");
  given.behave = (ids) => (ids.includes("bad") ? "refuse" : "take");
  const all = ["a", "known", "fenced", "bad"].map((id) => given.settler.recover(charge(id)));
  all.push(given.settler.recover({ ...charge("odd"), inputTokens: -1 }));
  await given.clock.advanceAsync(1000);
  expect(await Promise.all(all)).toEqual(["settled", "settled", "fenced", "settled", "settled"]);
  expect(given.stored).toEqual(["known", "a"]);
  expect(given.letters?.toSorted()).toEqual(["bad: impossible", expect.stringMatching(/^odd: its inputTokens, -1,/)]);
  const made = ["x", "y"].map((id) => given.settler.remake(charge(id)));
  await given.clock.advanceAsync(10);
  await Promise.all(made);
  expect(given.stored.slice(2).toSorted()).toEqual(["again-x", "again-y"]);
});

test("closing waits for nobody, whatever came before and comes meanwhile", async () => {
  const promises = ["a", "b"].map((id) => given.settler.settle(charge(id)));
  await given.clock.advanceAsync(0);
  promises.push(given.settler.settle(charge("c")));
  const closed = given.settler.close();
  promises.push(given.settler.settle(charge("d")));
  await closed;
  await Promise.all(promises);
  expect(given.stored).toEqual(["a", "b", "c", "d"]);
});

test("closing commits at once, and leaves to the journal what a dead store does not take", async () => {
  const first = given.settler.settle(charge("a"));
  await given.settler.close();
  await first;
  expect(given.stored).toEqual(["a"]);
  given.behave = () => "fail";
  const second = given.settler.settle(charge("b"));
  await given.clock.until(given.settler.close());
  await second;
  expect(given.promised).toEqual(["b"]);
});

test("a charge that the store has lost is concluded as one that was concluded before", async () => {
  await given.clock.until(given.settler.settle(charge("a")));
  given.stored.length = 0;
  await given.clock.until(given.settler.remake(charge("a"), true));
  await given.clock.until(given.settler.remake(charge("b")));
  expect(given.events).toEqual(["a stored", "again-a stored again", "again-b stored"]);
});

test("a charge that the store has lost tells nobody of its old money, whatever becomes of it; of its new money it does", async () => {
  const told: unknown[] = [];
  given.renew = async (lost, _told, isConcluded) => {
    told.push(isConcluded);
    return charge(`again-${lost.requestId}`);
  };
  given.behave = ([id]) => (id === "again-again-a" ? "refuse" : "fence");
  await given.clock.until(given.settler.remake(charge("a"), true));
  expect(told).toEqual([true, false]);
  given.keptFrom = Number.MAX_SAFE_INTEGER;
  await given.clock.until(given.settler.remake(charge("b"), true));
  expect(given.events).toEqual(["again-again-a refused", "b refused again"]);
});

test("a charge that the store has lost is in the journal again while the store does not take it", async () => {
  await given.clock.until(given.settler.settle(charge("a")));
  given.stored.length = 0;
  given.behave = () => "fail";
  const remade = given.settler.remake(charge("a"), true);
  await given.clock.until(given.settler.close());
  expect(given.promised).toEqual(["again-a"]);
  await remade;
});
