import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { costOf, type Source, split } from "#src/money/ledger/wallet/split.ts";

const lot = (available: number, input: number, output: number) => ({ available, rates: { input, output } });

test("one lot pays whole tokens at its rates", () => {
  expect(split([lot(1000, 2, 3)], { inputTokens: 100, outputTokens: 10 })).toEqual({
    parts: [{ source: 0, inputTokens: 100, outputTokens: 10, cost: 230 }],
    unpaid: { inputTokens: 0, outputTokens: 0 },
    due: undefined,
  });
});

test("a token that straddles two lots costs the lower rate, and the first lot ends at zero", () => {
  // 10 tokens of 3 leave 2 in the first lot; the 11th costs min(3, 5) = 3: 2 + 1.
  expect(split([lot(32, 0, 3), lot(100, 0, 5)], { inputTokens: 0, outputTokens: 12 }).parts).toEqual([
    { source: 0, inputTokens: 0, outputTokens: 10, cost: 32 },
    { source: 1, inputTokens: 0, outputTokens: 2, cost: 6 },
  ]);
});

test("a remainder above the lower rate pays the straddling token alone", () => {
  expect(split([lot(8, 0, 10), lot(100, 0, 5)], { inputTokens: 0, outputTokens: 2 }).parts).toEqual([
    { source: 0, inputTokens: 0, outputTokens: 0, cost: 8 },
    { source: 1, inputTokens: 0, outputTokens: 2, cost: 5 },
  ]);
});

test("a lot that ends with a whole token makes the next one no cheaper", () => {
  expect(split([lot(9, 0, 3), lot(100, 0, 5)], { inputTokens: 0, outputTokens: 4 }).parts).toEqual([
    { source: 0, inputTokens: 0, outputTokens: 3, cost: 9 },
    { source: 1, inputTokens: 0, outputTokens: 1, cost: 5 },
  ]);
});

test("tells what no lot can pay", () => {
  expect(split([lot(10, 1, 4)], { inputTokens: 3, outputTokens: 3 })).toMatchObject({
    unpaid: { inputTokens: 0, outputTokens: 2 },
    due: 1,
  });
  expect(split([], { inputTokens: 1, outputTokens: 1 })).toMatchObject({
    unpaid: { inputTokens: 1, outputTokens: 1 },
    due: undefined,
  });
});

test("free tokens are still told apart", () => {
  expect(split([lot(5, 0, 1)], { inputTokens: 7, outputTokens: 5 }).parts).toEqual([
    { source: 0, inputTokens: 7, outputTokens: 5, cost: 5 },
  ]);
});

const rate = fc.integer({ min: 0, max: 2_000_000 });
const lots = fc.array(
  fc.record({
    available: fc.integer({ min: 0, max: 1_000_000_000 }),
    rates: fc.record({ input: rate, output: rate }),
  }),
  { minLength: 1, maxLength: 5 },
);
const count = fc.integer({ min: 0, max: 5000 });

test("conserves tokens, spends in order, never passes a lot nor the dearest rate", () => {
  fc.assert(
    fc.property(lots, count, count, (sources, inputTokens, outputTokens) => {
      const { parts, unpaid } = split(sources, { inputTokens, outputTokens });
      const sum = (of: (part: (typeof parts)[number]) => number) => parts.reduce((total, part) => total + of(part), 0);
      expect(sum((part) => part.inputTokens) + unpaid.inputTokens).toBe(inputTokens);
      expect(sum((part) => part.outputTokens) + unpaid.outputTokens).toBe(outputTokens);

      const dearestInput = Math.max(...sources.map((source) => source.rates.input));
      const dearestOutput = Math.max(...sources.map((source) => source.rates.output));
      expect(sum((part) => part.cost)).toBeLessThanOrEqual(inputTokens * dearestInput + outputTokens * dearestOutput);

      const paid = sources.map((_, at) => parts.filter((part) => part.source === at));
      for (const [at, source] of sources.entries()) {
        const cost = paid[at]?.reduce((total, part) => total + part.cost, 0) ?? 0;
        expect(Number.isSafeInteger(cost)).toBe(true);
        expect(cost).toBeLessThanOrEqual(source.available);
        const laterTouched = paid.slice(at + 1).some((later) => later.length > 0);
        if (laterTouched) {
          expect(cost).toBe(source.available);
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test("money for the worst case at the dearest rates always pays everything", () => {
  fc.assert(
    fc.property(lots, count, count, (sources, inputTokens, outputTokens) => {
      const worst =
        inputTokens * Math.max(...sources.map((source) => source.rates.input)) +
        outputTokens * Math.max(...sources.map((source) => source.rates.output));
      fc.pre(sources.reduce((total, source) => total + source.available, 0) >= worst);
      expect(split(sources, { inputTokens, outputTokens }).unpaid).toEqual({ inputTokens: 0, outputTokens: 0 });
    }),
    { numRuns: 2000 },
  );
});

/** The same, one token after the other: whoever comes to a token pays it whole, or what is left of it, or gives all. */
function splitOneByOne(sources: readonly Source[], inputTokens: number, outputTokens: number) {
  const parts = sources.map((_, source) => ({ source, inputTokens: 0, outputTokens: 0, cost: 0 }));
  const waiting = [...Array<"input">(inputTokens).fill("input"), ...Array<"output">(outputTokens).fill("output")];
  let shared: { readonly paid: number; readonly lowest: number } | undefined;
  for (const [at, { available, rates }] of sources.entries()) {
    const part = parts[at] as (typeof parts)[number];
    for (let kind = waiting[0]; kind !== undefined; kind = waiting[0]) {
      const { paid, lowest } = shared ?? { paid: 0, lowest: rates[kind] };
      const price = Math.min(lowest, rates[kind]);
      const due = Math.max(0, price - paid);
      const left = available - part.cost;
      if (due > left) {
        part.cost = available;
        shared = shared === undefined && left === 0 ? undefined : { paid: paid + left, lowest: price };
        break;
      }
      part.cost += due;
      part[`${kind}Tokens`]++;
      shared = undefined;
      waiting.shift();
    }
  }
  const unpaid = {
    inputTokens: waiting.filter((kind) => kind === "input").length,
    outputTokens: waiting.filter((kind) => kind === "output").length,
  };
  const due = shared && Math.max(0, shared.lowest - shared.paid);
  const touched = parts.filter(({ cost, ...tokens }) => cost > 0 || tokens.inputTokens > 0 || tokens.outputTokens > 0);
  return { parts: touched, unpaid, due };
}

test("many tokens are paid as one after the other would be", () => {
  const small = fc.nat(9);
  const few = fc.array(fc.record({ available: fc.nat(30), rates: fc.record({ input: small, output: small }) }), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(few, small, small, (sources, inputTokens, outputTokens) => {
      expect(split(sources, { inputTokens, outputTokens })).toEqual(splitOneByOne(sources, inputTokens, outputTokens));
    }),
    { numRuns: 3000 },
  );
});

test("tokens cost their rates", () => {
  expect(costOf({ inputTokens: 3, outputTokens: 5 }, { input: 7, output: 11 })).toBe(3 * 7 + 5 * 11);
});
