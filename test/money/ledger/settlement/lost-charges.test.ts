import { beforeEach, expect, test } from "@jest/globals";
import { LostCharges } from "#src/money/ledger/settlement/lost-charges.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";

let clock: ManualClock;
/** The runs that the store has, how often it was asked, and what was made again. */
let stored: Set<string>;
let asked: number;
let remade: Charge[];
let log: object[];
let turns: number;
let keptFrom: number;
let lost: LostCharges;

beforeEach(() => {
  clock = new ManualClock(Date.UTC(2026, 0, 31));
  [stored, asked, remade, log, turns, keptFrom] = [new Set(), 0, [], [], 1, 0];
  const nothing = () => {};
  lost = new LostCharges({
    store: {
      async settled(runs) {
        asked++;
        const known = { inputTokens: 1, outputTokens: 1, cost: 1, status: "completed" } as const;
        return new Map(runs.filter(({ runId }) => stored.has(runId)).map(({ runId }) => [runId, known]));
      },
    },
    settler: {
      async remake(charge, isAgain) {
        expect(isAgain).toBe(true); // its cost was counted
        remade.push(charge);
      },
    },
    turns: () => turns,
    readKeptFrom: async () => keptFrom,
    clock,
    logger: { debug: nothing, info: nothing, warn: nothing, error: (fields) => void log.push(fields) },
    observer: { putBack: nothing },
  });
});

function store(runId: string, promised: { readonly told?: number } = {}): void {
  stored.add(runId);
  const tokens = { inputTokens: 1, outputTokens: 1, cost: 7, shortfall: 7, status: "completed" } as const;
  const of = { requestId: `request of ${runId}`, accountId: "a", keyId: "k", model: "m" };
  lost.stored({ runId, ...of, ...tokens, settledAt: clock.now(), lines: [], ...promised });
}

test("what the database lacks after a promotion is made again, for what its client was told", async () => {
  store("1");
  store("2");
  store("3");
  await lost.look();
  expect(asked).toBe(0); // it did not change hands
  stored.delete("2");
  turns = 2;
  await lost.look();
  expect(remade).toMatchObject([{ runId: "2", told: 7 }]);
  expect(log).toEqual([{ requests: ["request of 2"], since: "2026-01-31T00:00:00.000Z", olderAreUnknown: false }]);
  await lost.look();
  expect(asked).toBe(1);
});

test("what the old primary acknowledges after the look is made again a minute later", async () => {
  store("1");
  turns = 2;
  await lost.look();
  store("late");
  stored.delete("late");
  clock.advance(59_999);
  await lost.look();
  expect(remade).toEqual([]);
  clock.advance(1);
  await lost.look();
  expect(remade).toMatchObject([{ runId: "late" }]);
  clock.advance(60_000);
  await lost.look();
  expect(asked).toBe(2);
});

test("what became cheaper after a promise that could not be written is made again for what was stored", async () => {
  store("1", { told: 20 });
  stored.clear();
  await lost.doubt();
  expect(remade).toMatchObject([{ runId: "1", told: 7 }]);
});

test("a store that does not answer is asked again", async () => {
  store("1");
  turns = 2;
  const { settled } = { settled: stored.has };
  stored.has = () => {
    throw new Error("away");
  };
  await expect(lost.look()).rejects.toThrow("away");
  stored.has = settled;
  stored.delete("1");
  await lost.look();
  expect(remade).toMatchObject([{ runId: "1" }]);
});

test("two minutes are remembered, and 20,000 charges; that older ones may be lost is told", async () => {
  store("old");
  clock.advance(120_000);
  for (let at = 0; at < 20_001; at++) {
    store(`run ${at}`);
  }
  stored.clear();
  await lost.doubt();
  expect(remade).toHaveLength(20_000);
  expect(remade.some(({ runId }) => runId === "old" || runId === "run 0")).toBe(false);
  expect(log).toHaveLength(20);
  expect(log[0]).toMatchObject({ olderAreUnknown: true });
  expect(log[1]).toMatchObject({ olderAreUnknown: false });
});

test("what has left the books while its core slept is in an archive, and not lost", async () => {
  store("archived");
  keptFrom = clock.now() + 1;
  clock.advance(1);
  store("lost");
  stored.clear();
  await lost.doubt();
  expect(remade).toMatchObject([{ runId: "lost" }]);
});

test("a core that doubts whether the database has gone back looks at once, and once more when the old one is silent", async () => {
  store("1");
  await lost.doubt();
  stored.delete("1");
  await lost.look();
  expect(remade).toEqual([]);
  await clock.pass(60_000);
  expect(await lost.look()).toBe(true);
  expect(remade).toMatchObject([{ runId: "1" }]);
  expect(await lost.look()).toBe(false);
});

test("it is told which charges were lost, since when, and a charge that is stored again is remembered from then on", async () => {
  const logged: unknown[][] = [];
  log.push = (...fields) => logged.push(fields);
  store("1");
  clock.advance(60_000);
  store("2");
  clock.advance(59_999);
  store("1");
  clock.advance(1);
  store("3");
  stored.clear();
  await lost.doubt();
  expect(remade.map(({ runId }) => runId)).toEqual(["2", "1", "3"]);
  expect(logged).toEqual([[expect.objectContaining({ since: "2026-01-31T00:01:00.000Z" })]]);
});
