import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { charge, scriptedSettler } from "./scripted-settler.ts";

const given = scriptedSettler();

test.each<[string, Error, number, number]>([
  ["no such account", failure(Reason.ACCOUNT_NOT_FOUND, "gone"), 1, 1],
  ["no such model", failure(Reason.MODEL_NOT_FOUND, "gone"), 1, 1],
  ["something unknown", new Error("odd"), 20, 1],
  ["the store is away", Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), 60, 0],
])(
  "a fenced charge for which there is %s is tried ever more seldom, and given up or kept",
  async (_, error, most, givenUp) => {
    let tries = 0;
    given.renew = async () => {
      tries++;
      throw error;
    };
    void given.settler.settle(charge("fenced")).catch(() => {});
    await given.clock.advanceAsync(300_000);
    expect(tries).toBeGreaterThanOrEqual(Math.min(most, 20));
    expect(tries).toBeLessThanOrEqual(most + 5);
    expect(given.letters).toHaveLength(givenUp);
    expect(given.settler.backlog).toBe(1 - givenUp);
    given.renew = async ({ requestId }) => charge(`again-${requestId}`);
    await given.clock.advanceAsync(5000);
    expect(given.stored).toEqual(givenUp === 0 ? ["again-fenced"] : []);
  },
);

test("a fenced charge is made anew and durable once that one is", async () => {
  const promise = given.settler.settle(charge("fenced"));
  await given.clock.advanceAsync(20);
  await promise;
  expect(given.stored).toEqual(["again-fenced"]);
});

test("a fenced charge that cannot be made anew at once is tried again, and its group is concluded once", async () => {
  let failures = 2;
  given.renew = async ({ requestId }) => {
    if (requestId === "fenced-c" && failures-- > 0) {
      throw new Error("the store is away again");
    }
    return charge(`again-${requestId}`);
  };
  const promises = ["a", "fenced-b", "fenced-c", "d"].map((id) => given.settler.settle(charge(id)));
  await given.clock.advanceAsync(2000);
  await Promise.all(promises);
  expect(given.stored.toSorted()).toEqual(["a", "again-fenced-b", "again-fenced-c", "d"]);
  expect(given.events.toSorted()).toEqual(["a stored", "again-fenced-b stored", "again-fenced-c stored", "d stored"]);
});

test("a charge whose slices were lost after a lost reply is not mistaken for somebody else's", async () => {
  given.behave = () => (["fail after taking", "fence", "take"] as const)[given.groups.length - 1] ?? "take";
  given.renew = async (lost) => lost;
  given.journalWorks = false;
  const promise = given.settler.settle(charge("a"));
  await given.clock.advanceAsync(1000);
  await promise;
  expect(given.groups).toEqual([1, 1, 1]);
  expect(given.events).toEqual(["a stored"]);
});

test.each(["fail after taking", "fence"] as const)(
  "a core that sleeps until receipts have left charges nothing that may have been charged: its store did %s",
  async (first) => {
    given.journalWorks = false;
    given.behave = () => (given.groups.length === 1 ? first : "take");
    given.renew = async (lost) => lost;
    const isLost = first === "fail after taking";
    const promise = given.settler
      .settle({ ...charge("a"), settledAt: given.clock.now() })
      .catch((error) => readDetail(error)?.reason);
    if (isLost) {
      await given.clock.advanceAsync(0);
    }
    given.stored = [];
    given.keptFrom = given.clock.now() + 86_400_000;
    await given.clock.advanceAsync(2000);
    expect(await promise).toBe(Reason.LEDGER_UNAVAILABLE);
    expect(given.stored).toEqual([]);
    expect(given.letters).toEqual([expect.stringContaining("a: it is older than the receipts in the books")]);
    expect(given.events).toEqual(["a refused"]);
  },
);

test("a charge whose receipt is still in the books is recognized, however old", async () => {
  given.keptFrom = given.clock.now() + 86_400_000;
  given.stored.push("a");
  expect(await Promise.all([given.settler.recover(charge("a")), given.clock.advanceAsync(1000)])).toEqual([
    "settled",
    undefined,
  ]);
  expect([given.stored, given.letters]).toEqual([["a"], []]);
});
