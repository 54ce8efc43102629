import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { formatRate, formatUsd } from "#lib/money/money.ts";
import { checkCharge } from "#src/money/books/bill/check/check-charge.ts";
import { Line } from "#src/money/books/bill/check/read-line.ts";
import { costOf, type Source, split } from "#src/money/ledger/wallet/split.ts";

const rate = fc.integer({ min: 1, max: 2_000_000 });
const rates = fc.record({ input: rate, output: rate });
const sources = fc.array(fc.record({ available: fc.integer({ min: 0, max: 100_000_000 }), rates }), { maxLength: 5 });
const tokens = fc.record({
  inputTokens: fc.integer({ min: 0, max: 200 }),
  outputTokens: fc.integer({ min: 0, max: 200 }),
});

/** A charge as a statement has it, whose tokens the ledger splits over credits; what they cannot pay is owed. */
function toCharge(paying: readonly Source[], used: { inputTokens: number; outputTokens: number }) {
  const terms = { input: 2_000_000, output: 2_000_000 };
  const { parts, unpaid, due } = split(paying, used);
  const shortfall = costOf(unpaid, terms) - (due === undefined ? 0 : terms.input - due);
  const part = (lot: string, of: { inputTokens: number; outputTokens: number }, at: typeof terms, cost: number) => ({
    ...{ lot, input_tokens: of.inputTokens, output_tokens: of.outputTokens },
    ...{ input_price: formatRate(BigInt(at.input)), output_price: formatRate(BigInt(at.output)) },
    cost: formatUsd(BigInt(cost)),
  });
  const lots = parts.map((one) => part(`lot ${one.source}`, one, (paying[one.source] as Source).rates, one.cost));
  const cost = parts.reduce((sum, one) => sum + one.cost, shortfall);
  return {
    ...{ kind: "charge", at: "2026-01-31T12:00:00.000Z", request_id: "r", run_id: "u", key_id: "", model: "m" },
    ...{ status: "completed", prompt_tokens: used.inputTokens, completion_tokens: used.outputTokens },
    ...{ cost: formatUsd(BigInt(cost)), shortfall: formatUsd(BigInt(shortfall)) },
    lots: shortfall === 0 ? lots : [...lots, part("", unpaid, terms, shortfall)],
  };
}

test("however the ledger splits tokens over credits, and whatever is owed, the cost is made anew exactly", () => {
  fc.assert(
    fc.property(sources, tokens, (paying, used) => {
      const charge = toCharge(paying, used);
      expect(formatUsd(checkCharge(new Line(charge), "account").cost)).toBe(charge.cost);
    }),
    { numRuns: 2000, seed: 1 },
  );
});

test("a cost that is another by one pico-USD does not fit, unless credits share a token", () => {
  fc.assert(
    fc.property(rates, tokens, fc.constantFrom(1n, -1n), (at, used, more) => {
      const charge = toCharge([{ available: 1e12, rates: at }], used);
      const [part] = charge.lots;
      fc.pre(part !== undefined);
      const cost = BigInt(costOf(used, at)) + more;
      const told = { ...charge, cost: formatUsd(cost), lots: [{ ...part, cost: formatUsd(cost) }] };
      expect(() => checkCharge(new Line(told), "account")).toThrow("and its tokens cost");
    }),
    { numRuns: 2000, seed: 1 },
  );
});

test("fields that are not what they have to be are named", () => {
  const charge = toCharge([{ available: 1e6, rates: { input: 1, output: 1 } }], { inputTokens: 1, outputTokens: 1 });
  const [lot] = charge.lots;
  for (const [fields, name] of [
    [{ prompt_tokens: -1 }, "prompt_tokens is not a whole number"],
    [{ prompt_tokens: 2 }, "prompt_tokens is 2, and is made 1"],
    [{ cost: 1 }, "cost is not a text"],
    [{ cost: "-1.00" }, "cost is not an amount of USD"],
    [{ at: "2026-01-31" }, "at is not a time in UTC"],
    [{ lots: 1 }, "lots is not a list"],
    [{ lots: [{ ...lot, input_price: "0.0000001" }] }, "input_price is not a price of 1M tokens"],
    [{ lots: [] }, "cost is 0.000000000002, and is made 0.00"],
  ] as const) {
    expect(() => checkCharge(new Line({ ...charge, ...fields }), "account")).toThrow(name);
  }
});

test("the dearest charge that a number holds exactly fits, and what a number would round does not", () => {
  const most = 2n ** 53n - 1n; // 6,361 pico-USD for each of 1,416,003,655,831 tokens
  const charge = toCharge([{ available: Number(most), rates: { input: 6361, output: 1 } }], {
    ...{ inputTokens: 1_416_003_655_831, outputTokens: 0 },
  });
  expect(checkCharge(new Line(charge), "account").cost).toBe(most);
  // A number makes 2^53 of each of these, so the parts would seem to add up to a cost of 2^53.
  const [rounded, told] = [2n ** 53n, 2n ** 53n + 1n];
  const part = {
    lot: "lot",
    input_tokens: 1,
    output_tokens: 0,
    input_price: formatRate(rounded),
    output_price: "0.01",
  };
  for (const fields of [
    { ...part, cost: formatUsd(told) },
    { ...part, input_price: formatRate(told), cost: formatUsd(rounded) },
    { ...part, output_price: formatRate(told), cost: formatUsd(rounded) },
  ]) {
    const whole = { ...charge, prompt_tokens: 1, cost: formatUsd(rounded), lots: [fields] };
    expect(() => checkCharge(new Line(whole), "account")).toThrow("an amount is larger than a charge can have");
  }
});
