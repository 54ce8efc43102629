import { beforeEach, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import type { Journal } from "#src/money/journal/journal.ts";
import { noJournal } from "#src/money/journal/journal.ts";
import { Settler } from "#src/money/ledger/settlement/settler/settler.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import type { SettleOutcome } from "#src/money/model/store/charge.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { ManualClock } from "../../../../support/clocks/manual-clock.ts";
import { silentObserver } from "../../../silent-observer.ts";

const thisRun = "01a1fc36-0000-7000-8000-000000000001";
const charge = (requestId: string): Charge => ({
  ...{
    requestId,
    runId: thisRun,
    accountId: "01a1fc36-0000-7000-8000-000000000000",
    keyId: "",
    model: "m",
    inputTokens: 1,
    outputTokens: 1,
    cost: 1,
    shortfall: 0,
  },
  ...{ status: "completed", settledAt: 0, lines: [] },
});
const impossible = new Error("impossible");

let clock: ManualClock;
let stored: string[];
/** The charges that are remembered, should the database lose them. */
let remembered: string[];
let groups: number[];
let behave: (ids: string[]) => "take" | "fail" | "fail after taking" | "hang" | "refuse" | "fence";
let promised: string[];
/** What was given up, and why. Undefined: there is no room for it. */
let letters: string[] | undefined;
/** How long it takes to put one aside. */
let letterMs: number;
let journalWorks: boolean;
let events: string[];
/** Makes another charge of one whose slices are lost. */
let renew: (lost: Charge, readTold?: unknown, isConcluded?: boolean) => Promise<Charge>;
/** The first moment whose receipts are all in the books; 0: those of all times are. */
let keptFrom: number;
let settler: Settler;

beforeEach(() => {
  clock = new ManualClock(Date.now());
  stored = [];
  remembered = [];
  groups = [];
  promised = [];
  letters = [];
  letterMs = 0;
  journalWorks = true;
  events = [];
  behave = () => "take";
  renew = async ({ requestId }) => charge(`again-${requestId}`);
  keptFrom = 0;
  const store = {
    async settle(charges: readonly Charge[]): Promise<SettleOutcome[]> {
      const ids = charges.map(({ requestId }) => requestId);
      groups.push(ids.length);
      const behaviour = behave(ids);
      if (behaviour === "refuse") {
        throw impossible;
      }
      if (behaviour === "fail") {
        throw new Error("gone");
      }
      if (behaviour === "hang") {
        await new Promise<void>((resolve) => clock.after(500, resolve));
      }
      const outcomes = ids.map((id): SettleOutcome => {
        if (behaviour === "fence" || id.startsWith("fenced")) {
          return "fenced";
        }
        if (stored.includes(id)) {
          return "repeated";
        }
        stored.push(id);
        return "stored";
      });
      if (behaviour === "fail after taking") {
        throw new Error("reply lost");
      }
      return outcomes;
    },
    settled: async (charges: readonly Charge[]) =>
      new Map(
        charges.filter((each) => keptFrom === 0 || stored.includes(each.requestId)).map((each) => [each.runId, each]),
      ),
    isViolation: (error: unknown) => error === impossible,
  } as unknown as LedgerStore;
  const journal: Journal = {
    ...noJournal,
    promise: async (charges) => {
      if (!journalWorks) {
        return false;
      }
      promised.push(...charges.map(({ requestId }) => requestId));
      return true;
    },
  };
  const nothing = () => {};
  const deadLetters = {
    async put({ requestId }: Charge, reason: string) {
      if (letters === undefined) {
        throw new Error("no room");
      }
      await pass(letterMs);
      letters.push(`${requestId}: ${reason}`);
    },
  };
  settler = new Settler({
    ...{ store, journal, deadLetters, clock, logger: { debug: nothing, info: nothing, warn: nothing, error: nothing } },
    observer: silentObserver,
    conclusions: {
      settled: ({ requestId }, outcome, _run, isAgain) =>
        void events.push(`${requestId} ${outcome}${isAgain ? " again" : ""}`),
      superseded() {},
    },
    stored: ({ requestId }) => void remembered.push(requestId),
    late: { renew: (...of) => renew(...of) },
    readKeptFrom: async () => keptFrom,
  });
});

const pass = (ms: number) => (ms === 0 ? undefined : new Promise<void>((resolve) => void clock.after(ms, resolve)));

const states = (promises: Promise<unknown>[]) =>
  Promise.all(
    promises.map((promise) => Promise.race([promise.then(() => "durable"), Promise.resolve().then(() => "waiting")])),
  );

test("charges that end together are one commit, at once", async () => {
  const promises = ["a", "b", "c"].map((id) => settler.settle(charge(id)));
  expect(await states(promises)).toEqual(["waiting", "waiting", "waiting"]);
  await clock.advanceAsync(0);
  expect(groups).toEqual([3]);
  expect(await states(promises)).toEqual(["durable", "durable", "durable"]);
  expect(events).toEqual(["a stored", "b stored", "c stored"]);
});

test("charges that come one by one, each when the one before is durable, wait for nobody", async () => {
  for (const id of ["a", "b", "c"]) {
    const promise = settler.settle(charge(id));
    await clock.advanceAsync(0);
    expect(await states([promise])).toEqual(["durable"]);
  }
  expect(groups).toEqual([1, 1, 1]);
});

test("charges that come close to each other wait for others for a few milliseconds, and only as long as they do", async () => {
  const first = ["a", "b"].map((id) => settler.settle(charge(id)));
  await clock.advanceAsync(1);
  const second = ["c", "d"].map((id) => settler.settle(charge(id)));
  await clock.advanceAsync(3);
  expect(await states([...first, ...second])).toEqual(["durable", "durable", "waiting", "waiting"]);
  const third = settler.settle(charge("e"));
  await clock.advanceAsync(1);
  expect(await states([...second, third])).toEqual(["durable", "durable", "durable"]);
  await clock.advanceAsync(1000);
  const alone = settler.settle(charge("f"));
  await clock.advanceAsync(0);
  expect(await states([alone])).toEqual(["durable"]);
  expect(groups).toEqual([2, 3, 1]);
});

test("charges that came during a slow commit go together as soon as it is over", async () => {
  behave = () => (groups.length === 1 ? "hang" : "take");
  const promises = [settler.settle(charge("a"))];
  for (const id of ["b", "c"]) {
    await clock.advanceAsync(100);
    promises.push(settler.settle(charge(id)));
  }
  await clock.advanceAsync(298);
  expect(groups).toEqual([1]);
  await clock.advanceAsync(3);
  expect(groups).toEqual([1, 2]);
  await Promise.all(promises);
  expect(stored).toEqual(["a", "b", "c"]);
});

test("a store that is away for a while loses nothing; meanwhile the journal promises", async () => {
  behave = () => "fail";
  const first = settler.settle(charge("a"));
  await clock.advanceAsync(1000);
  expect(await states([first])).toEqual(["durable"]);
  expect(promised).toEqual(["a"]);
  const second = settler.settle(charge("b"));
  await clock.advanceAsync(1000);
  expect(await states([second])).toEqual(["durable"]);
  expect(stored).toEqual([]);
  behave = () => "take";
  await clock.advanceAsync(1000);
  expect(stored).toEqual(["a", "b"]);
  expect(events).toEqual(["a stored", "b stored"]);
});

test("a slow store has its charges promised after a tenth of a second", async () => {
  behave = () => "hang";
  const first = settler.settle(charge("a"));
  await clock.advanceAsync(99);
  expect(promised).toEqual([]);
  await clock.advanceAsync(10);
  expect(await states([first])).toEqual(["durable"]);
  const second = settler.settle(charge("b"));
  await clock.advanceAsync(110);
  expect(await states([second])).toEqual(["durable"]);
  expect(promised).toEqual(["a", "b"]);
  await clock.advanceAsync(2000);
  expect(stored).toEqual(["a", "b"]);
});

test("a lost reply is not a second charge, and not mistaken for somebody else's", async () => {
  behave = (_ids) => (groups.length === 1 ? "fail after taking" : "take");
  const first = settler.settle(charge("a"));
  await clock.advanceAsync(1000);
  await first;
  expect(stored).toEqual(["a"]);
  expect(events).toEqual(["a stored"]);
  expect(remembered).toEqual(["a"]);
  void settler.settle(charge("a"));
  await clock.advanceAsync(10);
  expect(events).toEqual(["a stored", "a repeated"]);
  expect(remembered).toEqual(["a"]);
});

test("an impossible charge is put aside alone; its group is stored, and its caller is told", async () => {
  behave = (ids) => (ids.includes("bad") ? "refuse" : "take");
  const good = [settler.settle(charge("a")), settler.settle(charge("b"))];
  const bad = settler.settle(charge("bad")).catch((error: unknown) => readDetail(error)?.reason);
  await clock.advanceAsync(10);
  await Promise.all(good);
  expect(await bad).toBe(Reason.LEDGER_UNAVAILABLE);
  expect(stored).toEqual(["a", "b"]);
  expect(letters).toEqual(["bad: impossible"]);
  expect(events.toSorted()).toEqual(["a stored", "b stored", "bad refused"]);
  expect(settler.backlog).toBe(0);
});

test("a charge that the store chokes on for what it says is put aside too, whatever the error", async () => {
  behave = (ids) => (ids.includes("bad") ? "fail" : "take");
  const good = settler.settle(charge("a"));
  const bad = settler.settle({ ...charge("bad"), outputTokens: 1e300 }).catch(() => "refused");
  await clock.advanceAsync(10);
  await good;
  expect(await bad).toBe("refused");
  expect(letters).toEqual([expect.stringContaining("bad: its outputTokens, 1e+300")]);
});

test("while there is no room for what is given up it is promised, holds nobody up, and is not forgotten", async () => {
  letters = undefined;
  behave = (ids) => (ids.includes("bad") ? "refuse" : "take");
  const bad = settler.settle(charge("bad"));
  await clock.advanceAsync(1000);
  await bad;
  expect(promised).toEqual(["bad"]);
  expect(await states([settler.settle(charge("a"))])).toEqual(["waiting"]);
  await clock.advanceAsync(10);
  expect(stored).toEqual(["a"]);
  expect(events).toEqual(["a stored"]);
  letters = [];
  await clock.advanceAsync(5000);
  expect(letters).toEqual(["bad: impossible"]);
  expect(events).toEqual(["a stored", "bad refused"]);
});

test.each(["fenced", "bad"])(
  "a charge that is %s is promised after a tenth of a second where its next step takes longer",
  async (id) => {
    letterMs = 5000;
    renew = async () => {
      await pass(5000);
      return charge("again");
    };
    behave = (ids) => (ids.includes("bad") ? "refuse" : "take");
    const settled = settler.settle(charge(id));
    await clock.advanceAsync(50);
    expect(promised).toEqual([]);
    await clock.advanceAsync(100);
    await settled;
    expect(promised).toEqual([id]);
    await clock.advanceAsync(5000);
    expect([...stored, ...(letters ?? [])]).toEqual([id === "bad" ? "bad: impossible" : "again"]);
    await clock.advanceAsync(1000);
    expect(promised).toEqual([id]);
  },
);

test.each<[string, Error, number, number]>([
  ["no such account", failure(Reason.ACCOUNT_NOT_FOUND, "gone"), 1, 1],
  ["no such model", failure(Reason.MODEL_NOT_FOUND, "gone"), 1, 1],
  ["something unknown", new Error("odd"), 20, 1],
  ["the store is away", Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), 60, 0],
])(
  "a fenced charge for which there is %s is tried ever more seldom, and given up or kept",
  async (_, error, most, given) => {
    let tries = 0;
    renew = async () => {
      tries++;
      throw error;
    };
    void settler.settle(charge("fenced")).catch(() => {});
    await clock.advanceAsync(300_000);
    expect(tries).toBeGreaterThanOrEqual(Math.min(most, 20));
    expect(tries).toBeLessThanOrEqual(most + 5);
    expect(letters).toHaveLength(given);
    expect(settler.backlog).toBe(1 - given);
    renew = async ({ requestId }) => charge(`again-${requestId}`);
    await clock.advanceAsync(5000);
    expect(stored).toEqual(given === 0 ? ["again-fenced"] : []);
  },
);

test("what a journal remembers is concluded record by record: stored, known, fenced, put aside", async () => {
  stored.push("known");
  behave = (ids) => (ids.includes("bad") ? "refuse" : "take");
  const all = ["a", "known", "fenced", "bad"].map((id) => settler.recover(charge(id)));
  all.push(settler.recover({ ...charge("odd"), inputTokens: -1 }));
  await clock.advanceAsync(1000);
  expect(await Promise.all(all)).toEqual(["settled", "settled", "fenced", "settled", "settled"]);
  expect(stored).toEqual(["known", "a"]);
  expect(letters?.toSorted()).toEqual(["bad: impossible", expect.stringMatching(/^odd: its inputTokens, -1,/)]);
  const made = ["x", "y"].map((id) => settler.remake(charge(id)));
  await clock.advanceAsync(10);
  await Promise.all(made);
  expect(stored.slice(2).toSorted()).toEqual(["again-x", "again-y"]);
});

test("a fenced charge is made anew and durable once that one is", async () => {
  const promise = settler.settle(charge("fenced"));
  await clock.advanceAsync(20);
  await promise;
  expect(stored).toEqual(["again-fenced"]);
});

test("a fenced charge that cannot be made anew at once is tried again, and its group is concluded once", async () => {
  let failures = 2;
  renew = async ({ requestId }) => {
    if (requestId === "fenced-c" && failures-- > 0) {
      throw new Error("the store is away again");
    }
    return charge(`again-${requestId}`);
  };
  const promises = ["a", "fenced-b", "fenced-c", "d"].map((id) => settler.settle(charge(id)));
  await clock.advanceAsync(2000);
  await Promise.all(promises);
  expect(stored.toSorted()).toEqual(["a", "again-fenced-b", "again-fenced-c", "d"]);
  expect(events.toSorted()).toEqual(["a stored", "again-fenced-b stored", "again-fenced-c stored", "d stored"]);
});

test("a charge whose slices were lost after a lost reply is not mistaken for somebody else's", async () => {
  behave = () => (["fail after taking", "fence", "take"] as const)[groups.length - 1] ?? "take";
  renew = async (lost) => lost;
  journalWorks = false;
  const promise = settler.settle(charge("a"));
  await clock.advanceAsync(1000);
  await promise;
  expect(groups).toEqual([1, 1, 1]);
  expect(events).toEqual(["a stored"]);
});

test.each(["fail after taking", "fence"] as const)(
  "a core that sleeps until receipts have left charges nothing that may have been charged: its store did %s",
  async (first) => {
    journalWorks = false;
    behave = () => (groups.length === 1 ? first : "take");
    renew = async (lost) => lost;
    const isLost = first === "fail after taking";
    const promise = settler
      .settle({ ...charge("a"), settledAt: clock.now() })
      .catch((error) => readDetail(error)?.reason);
    if (isLost) {
      await clock.advanceAsync(0);
    }
    stored = [];
    keptFrom = clock.now() + 86_400_000;
    await clock.advanceAsync(2000);
    expect(await promise).toBe(Reason.LEDGER_UNAVAILABLE);
    expect(stored).toEqual([]);
    expect(letters).toEqual([expect.stringContaining("a: it is older than the receipts in the books")]);
    expect(events).toEqual(["a refused"]);
  },
);

test("a charge whose receipt is still in the books is recognized, however old", async () => {
  keptFrom = clock.now() + 86_400_000;
  stored.push("a");
  expect(await Promise.all([settler.recover(charge("a")), clock.advanceAsync(1000)])).toEqual(["settled", undefined]);
  expect([stored, letters]).toEqual([["a"], []]);
});

test("closing waits for nobody, whatever came before and comes meanwhile", async () => {
  const promises = ["a", "b"].map((id) => settler.settle(charge(id)));
  await clock.advanceAsync(0);
  promises.push(settler.settle(charge("c")));
  const closed = settler.close();
  promises.push(settler.settle(charge("d")));
  await closed;
  await Promise.all(promises);
  expect(stored).toEqual(["a", "b", "c", "d"]);
});

test("closing commits at once, and leaves to the journal what a dead store does not take", async () => {
  const first = settler.settle(charge("a"));
  await settler.close();
  await first;
  expect(stored).toEqual(["a"]);
  behave = () => "fail";
  const second = settler.settle(charge("b"));
  await clock.until(settler.close());
  await second;
  expect(promised).toEqual(["b"]);
});

test("a charge that the store has lost is concluded as one that was concluded before", async () => {
  await clock.until(settler.settle(charge("a")));
  stored.length = 0;
  await clock.until(settler.remake(charge("a"), true));
  await clock.until(settler.remake(charge("b")));
  expect(events).toEqual(["a stored", "again-a stored again", "again-b stored"]);
});

test("a charge that the store has lost tells nobody of its old money, whatever becomes of it; of its new money it does", async () => {
  const told: unknown[] = [];
  renew = async (lost, _told, isConcluded) => {
    told.push(isConcluded);
    return charge(`again-${lost.requestId}`);
  };
  behave = ([id]) => (id === "again-again-a" ? "refuse" : "fence");
  await clock.until(settler.remake(charge("a"), true));
  expect(told).toEqual([true, false]);
  keptFrom = Number.MAX_SAFE_INTEGER;
  await clock.until(settler.remake(charge("b"), true));
  expect(events).toEqual(["again-again-a refused", "b refused again"]);
});
