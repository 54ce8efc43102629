import fc from "fast-check";

const account = fc.integer({ min: 0, max: 1 });
const tokens = fc.integer({ min: 0, max: 3000 });
const rates = fc.record({
  input: fc.integer({ min: 100_000, max: 2_000_000 }),
  output: fc.integer({ min: 100_000, max: 2_500_000 }),
});
/** What may happen next in a life. */
export const step = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("credit" as const),
      account,
      amount: fc.integer({ min: 1, max: 2_000_000_000 }),
      kind: fc.constantFrom("free" as const, "grant" as const, "paid" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("refund" as const),
      account,
      amount: fc.integer({ min: 1, max: 1_000_000_000 }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("hold" as const),
      account,
      input: tokens,
      output: fc.integer({ min: 0, max: 4000 }),
      counts: fc.boolean(),
      budgeted: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("progress" as const),
      which: fc.nat(),
      part: fc.integer({ min: 0, max: 100 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("settle" as const),
      which: fc.nat(),
      // Above 100 the engine passes its cap.
      part: fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 0, max: 100 }) }, fc.integer({ min: 101, max: 300 })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("release" as const), which: fc.nat() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.constantFrom(1, 60, 1100, 3000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("crash" as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("price" as const),
      rates,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("own prices" as const),
      account,
      discount: fc.constantFrom(0, 1, 1500, 9999),
      fixed: fc.option(rates, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("line" as const),
      account,
      line: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1_000_000_000 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("fault" as const),
      fault: fc.constantFrom("before" as const, "after" as const, "lost" as const, undefined),
    }),
  },
);

export type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
