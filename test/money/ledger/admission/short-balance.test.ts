import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { reasonOf } from "../../../support/reason-of.ts";
import { databases, dialects } from "../../databases.ts";
import { type Metering, never, openMetering, request, run } from "../../fixture.ts";

const newDatabase = databases();

/** Pico-USD a token. */
const inRate = 200_000;
const out = 250_000;

describe.each(dialects)("a short balance, on %s,", (dialect) => {
  let clock: ManualClock;
  let metering: Metering;
  beforeEach(async () => {
    clock = new ManualClock(Date.now());
    metering = await openMetering({ clock, url: await newDatabase(dialect) });
  });
  afterEach(() => clock.until(metering.close()));

  const balance = async (account: string) => (await metering.funds.statement(account)).balance;

  test("lowers the output cap, after the prompt was counted exactly", async () => {
    const account = await metering.account({ free: 100 * inRate + 300 * out });
    const wanted = request(account, { inputTokens: 2000, outputTokens: 1000 }, { countInput: async () => 100 });
    const hold = await metering.ledger.hold(wanted, never);
    expect(hold.outputTokens).toBe(300);
    await clock.until(hold.settle({ inputTokens: 100, outputTokens: 300 }, "completed"));
    expect(await balance(account)).toBe(0n);
    expect(await reasonOf(metering.ledger.hold(request(account, { inputTokens: 1, outputTokens: 1 }), never))).toBe(
      Reason.BALANCE_EXHAUSTED,
    );
  });

  test("is spendable down to less than the price of 64 tokens", async () => {
    const account = await metering.account({ free: 64 * out });
    const hold = await metering.ledger.hold(request(account, { inputTokens: 10, outputTokens: 1000 }), never);
    expect(hold.outputTokens).toBe(56);
    await clock.until(hold.settle({ inputTokens: 10, outputTokens: 1 }, "completed"));
    expect(await reasonOf(metering.ledger.hold(request(account, { inputTokens: 10, outputTokens: 1000 }), never))).toBe(
      Reason.BALANCE_EXHAUSTED,
    );
    // What fits whole is still let in.
    await clock.until(run(metering.ledger, request(account, { inputTokens: 10, outputTokens: 10 })));
  });

  test("that does not cover the prompt is exhausted, and so is one of nothing", async () => {
    const account = await metering.account({ free: 100 * inRate });
    const refused = metering.ledger.hold(request(account, { inputTokens: 200, outputTokens: 10 }), never);
    await expect(refused).rejects.toThrow("does not cover this prompt");
    const empty = await metering.account();
    expect(await reasonOf(metering.ledger.hold(request(empty, { inputTokens: 1, outputTokens: 1 }), never))).toBe(
      Reason.BALANCE_EXHAUSTED,
    );
  });

  test("refuses embeddings that it does not cover", async () => {
    const account = await metering.account({ free: 100 * inRate });
    expect(await reasonOf(metering.ledger.hold(request(account, { inputTokens: 101, outputTokens: 0 }), never))).toBe(
      Reason.BALANCE_EXHAUSTED,
    );
    const hold = await metering.ledger.hold(
      request(account, { inputTokens: 101, outputTokens: 0 }, { countInput: async () => 100 }),
      never,
    );
    expect(hold.outputTokens).toBe(0);
    hold.release();
  });
});
