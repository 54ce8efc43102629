import { expect, test } from "@jest/globals";
import { RunningHold } from "#src/money/ledger/hold.ts";
import type { CachedWallet } from "#src/money/ledger/wallet/cache/cached-wallet.ts";
import type { ChargedTokens } from "#src/money/model/interface.ts";
import { ManualClock } from "../../support/clocks/manual-clock.ts";
import { never, openMetering, request, usd } from "../fixture.ts";

test("keeps nothing that only the run needs, such as the prompt, which would live on with it", async () => {
  const clock = new ManualClock(Date.now());
  const metering = await openMetering({ clock });
  const account = await metering.account({ paid: usd });
  const prompt = { text: "long" };
  const countInput = async () => prompt.text.length;
  const wanted = request(account, { inputTokens: 10, outputTokens: 5 }, { keyId: "key", countInput });
  const hold = await metering.ledger.hold(wanted, never);
  const { requestId, accountId, keyId, model } = wanted;
  expect(hold).toHaveProperty("request", { requestId, runId: expect.any(String), accountId, keyId, model });
  hold.release();
  await clock.until(metering.close());
});

function start() {
  const freed: number[] = [];
  const noted: ChargedTokens[] = [];
  const ended: unknown[] = [];
  const keeper = {
    note: (_: RunningHold, { inputTokens, outputTokens }: ChargedTokens) =>
      void noted.push({ inputTokens, outputTokens }),
    shrink: (_: RunningHold, amount: number) => void freed.push(amount),
    charge: async (_: RunningHold, ...charged: unknown[]) => {
      ended.push(charged);
      return { cost: 7, lots: [] };
    },
    release: () => void ended.push("released"),
  };
  const hold = new RunningHold(keeper, {
    wallet: {} as CachedWallet,
    request: { requestId: "r", runId: "run", accountId: "a", keyId: "", model: "m" },
    rates: { input: 2, output: 3 },
    admitted: { inputTokens: 100, outputTokens: 1000 },
    amount: 3200,
    budget: undefined,
  });
  return { hold, freed, noted, ended };
}

test("it tells its run, and the tokens that it is admitted with", () => {
  const { hold } = start();
  expect([hold.runId, hold.inputTokens, hold.outputTokens]).toEqual(["run", 100, 1000]);
});

test("it shrinks once, to the first count of a prompt that an engine has read, if that is less", () => {
  const { hold, freed } = start();
  hold.progress({ inputTokens: 0, outputTokens: 1 });
  expect(freed).toEqual([]);
  hold.progress({ inputTokens: 40, outputTokens: 2 });
  hold.progress({ inputTokens: 30, outputTokens: 3 });
  expect(freed).toEqual([120]);
  const whole = start();
  whole.hold.progress({ inputTokens: 100, outputTokens: 1 });
  expect(whole.freed).toEqual([]);
});

test("progress is noted once, and none after its end", () => {
  const { hold, noted } = start();
  hold.note();
  expect(noted).toHaveLength(1); // of its admission
  hold.progress({ inputTokens: 40, outputTokens: 1 });
  hold.note();
  hold.note();
  expect(noted).toHaveLength(2);
  hold.progress({ inputTokens: 40, outputTokens: 2 });
  hold.release();
  hold.note();
  expect(noted).toHaveLength(2);
});

test("it ends once: with a charge of what was counted, or with none", async () => {
  const { hold, ended } = start();
  const tokens = { inputTokens: 40, outputTokens: 2 };
  const facts = { server: "one" };
  expect(await hold.settle(tokens, "completed", facts)).toEqual({ cost: 7, lots: [] });
  expect(() => hold.settle(tokens, "completed")).toThrow("the hold of request r has already ended");
  expect(() => hold.release()).toThrow("the hold of request r has already ended");
  expect(ended).toEqual([[tokens, "completed", facts]]);
  const free = start();
  free.hold.release();
  expect(() => free.hold.release()).toThrow("already ended");
  expect(free.ended).toEqual(["released"]);
});

test("it shrinks to the count of the prompt, and is noted at its admission and every 240 tokens", () => {
  const { hold, freed, noted } = start();
  for (const outputTokens of [1, 239, 240, 479, 480]) {
    hold.progress({ inputTokens: 40, outputTokens });
  }
  expect(freed).toEqual([120]);
  expect(hold.amount).toBe(3080);
  expect(noted.map(({ outputTokens }) => outputTokens)).toEqual([0, 240, 480]);
});

test("a lower bound is noted, but the hold shrinks only to the engine's own count, which may be higher", () => {
  const { hold, freed, noted } = start();
  hold.progress({ inputTokens: 5, outputTokens: 240, isLowerBound: true });
  expect(noted).toEqual([
    { inputTokens: 0, outputTokens: 0 },
    { inputTokens: 5, outputTokens: 240 },
  ]);
  expect([freed, hold.amount]).toEqual([[], 3200]);
  hold.progress({ inputTokens: 70, outputTokens: 250 });
  expect([freed, hold.amount]).toEqual([[60], 3140]);
});
