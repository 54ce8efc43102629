import { createContextValues } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import type { Hold } from "#src/money/model/ledger.ts";
import { TokenTally, tallied, tokenTallyKey } from "#src/services/limits/token-tally.ts";

const hold: Hold = {
  ...{ runId: "run", inputTokens: 9, outputTokens: 9 },
  progress() {},
  settle: async () => undefined,
  release() {},
};

/** A hold of a call whose tokens are counted, and what its limits were told when it was over. */
function begin() {
  const told: number[] = [];
  const tally = new TokenTally((tokens) => told.push(tokens));
  const values = createContextValues().set(tokenTallyKey, tally);
  return { told, tally, held: tallied(hold, values) };
}

test("what a server may have read for a client who left counts for the limits of its key", () => {
  const { told, tally, held } = begin();
  tally.over();
  held.release({ inputTokens: 7, outputTokens: 0 });
  expect(told).toEqual([7]);
});

test("a request that reached no server counts nothing", () => {
  const { told, tally, held } = begin();
  held.release();
  tally.over();
  expect(told).toEqual([0]);
});

test("a call is counted once its charge is known, however early its client left", () => {
  const { told, tally, held } = begin();
  tally.over();
  expect(told).toEqual([]);
  void held.settle({ inputTokens: 5, outputTokens: 2 }, "cancelled");
  expect(told).toEqual([7]);
});
