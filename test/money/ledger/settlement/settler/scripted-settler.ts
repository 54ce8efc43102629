import { beforeEach } from "@jest/globals";
import type { Journal } from "#src/money/journal/journal.ts";
import { noJournal } from "#src/money/journal/journal.ts";
import { Settler } from "#src/money/ledger/settlement/settler/settler.ts";
import type { Charge } from "#src/money/model/charges/charge.ts";
import type { SettleOutcome } from "#src/money/model/store/charge.ts";
import type { LedgerStore } from "#src/money/model/store/ledger.ts";
import { ManualClock } from "../../../../support/clocks/manual-clock.ts";
import { silentObserver } from "../../../silent-observer.ts";

/** A settler on a store and a journal that do as they are told, and what they have got. */
export interface Given {
  readonly clock: ManualClock;
  readonly settler: Settler;
  stored: string[];
  /** The charges that are remembered, should the database lose them. */
  readonly remembered: string[];
  /** The size of each group that the store was given. */
  readonly groups: number[];
  behave(ids: string[]): "take" | "fail" | "fail after taking" | "hang" | "refuse" | "fence";
  readonly promised: string[];
  /** What was given up, and why. Undefined: there is no room for it. */
  letters: string[] | undefined;
  /** How long it takes to put one aside. */
  letterMs: number;
  journalWorks: boolean;
  readonly events: string[];
  /** Makes another charge of one whose slices are lost. */
  renew(lost: Charge, readTold?: unknown, isConcluded?: boolean): Promise<Charge>;
  /** The first moment whose receipts are all in the books; 0: those of all times are. */
  keptFrom: number;
}

const thisRun = "01a1fc36-0000-7000-8000-000000000001";
const impossible = new Error("impossible");

/** A charge of nothing in particular. */
export const charge = (requestId: string): Charge => ({
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

/** What each test of a file is given anew. */
export function scriptedSettler(): Given {
  const given = {} as Given;
  beforeEach(() => {
    const clock = new ManualClock(Date.now());
    Object.assign(given, {
      ...{ clock, stored: [], remembered: [], groups: [], promised: [], letters: [], letterMs: 0, journalWorks: true },
      ...{ events: [], keptFrom: 0 },
      behave: () => "take",
      renew: async ({ requestId }) => charge(`again-${requestId}`),
      settler: makeSettler(clock, given),
    } satisfies Given);
  });
  return given;
}

function makeSettler(clock: ManualClock, given: Given): Settler {
  const store = {
    async settle(charges: readonly Charge[]): Promise<SettleOutcome[]> {
      const ids = charges.map(({ requestId }) => requestId);
      given.groups.push(ids.length);
      const behaviour = given.behave(ids);
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
        if (given.stored.includes(id)) {
          return "repeated";
        }
        given.stored.push(id);
        return "stored";
      });
      if (behaviour === "fail after taking") {
        throw new Error("reply lost");
      }
      return outcomes;
    },
    settled: async (charges: readonly Charge[]) =>
      new Map(
        charges
          .filter((each) => given.keptFrom === 0 || given.stored.includes(each.requestId))
          .map((each) => [each.runId, each]),
      ),
    isViolation: (error: unknown) => error === impossible,
  } as unknown as LedgerStore;
  const journal: Journal = {
    ...noJournal,
    promise: async (charges) => {
      if (!given.journalWorks) {
        return false;
      }
      given.promised.push(...charges.map(({ requestId }) => requestId));
      return true;
    },
  };
  const nothing = () => {};
  const deadLetters = {
    async put({ requestId }: Charge, reason: string) {
      if (given.letters === undefined) {
        throw new Error("no room");
      }
      await pass(clock, given.letterMs);
      given.letters.push(`${requestId}: ${reason}`);
    },
  };
  return new Settler({
    ...{ store, journal, deadLetters, clock, logger: { debug: nothing, info: nothing, warn: nothing, error: nothing } },
    observer: silentObserver,
    conclusions: {
      settled: ({ requestId }, outcome, _run, isAgain) =>
        void given.events.push(`${requestId} ${outcome}${isAgain ? " again" : ""}`),
      superseded() {},
    },
    stored: ({ requestId }) => void given.remembered.push(requestId),
    late: { renew: (...of) => given.renew(...of) },
    readKeptFrom: async () => given.keptFrom,
  });
}

/** Lets a test's clock go on for so long. */
export const pass = (clock: ManualClock, ms: number) =>
  ms === 0 ? undefined : new Promise<void>((resolve) => void clock.after(ms, resolve));

/** Which charges are durable by now. */
export const states = (promises: Promise<unknown>[]) =>
  Promise.all(
    promises.map((promise) => Promise.race([promise.then(() => "durable"), Promise.resolve().then(() => "waiting")])),
  );
