import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Charge, ChargeLine } from "#src/money/model/charges/charge.ts";
import type { RunFacts } from "#src/money/model/charges/settlement.ts";
import { flatten, unflatten } from "#src/money/store/flat-charges.ts";

const amount = fc.maxSafeNat();
const line: fc.Arbitrary<ChargeLine> = fc.record({
  ...{ sliceId: fc.uuid(), lotId: fc.uuid(), inputTokens: amount, outputTokens: amount },
  ...{ inputRate: amount, outputRate: amount, cost: amount },
});
const required = [
  ...([
    "requestId",
    "runId",
    "accountId",
    "keyId",
    "model",
    "inputTokens",
    "outputTokens",
    "cost",
    "shortfall",
  ] as const),
  ...(["status", "settledAt", "lines"] as const),
] as const;
const charge: fc.Arbitrary<Charge> = fc.record(
  {
    ...{ requestId: fc.string(), runId: fc.uuid(), accountId: fc.uuid(), keyId: fc.string(), model: fc.string() },
    ...{ inputTokens: amount, outputTokens: amount, cost: amount, shortfall: amount },
    ...{ status: fc.constantFrom("completed", "recovered"), settledAt: amount, lines: fc.array(line) },
    maxRates: fc.record({ input: amount, output: amount }),
    admitted: fc.record({ inputTokens: amount, outputTokens: amount }),
    facts: fc.oneof(
      fc.record({ finish: fc.constantFrom("stop", "length"), durationMs: amount, server: fc.string() }),
      fc.record({ reasoningTokens: amount, surface: fc.constantFrom("chat", "grpc") }),
    ) as fc.Arbitrary<RunFacts>,
  },
  { requiredKeys: [...required] },
);

test("charges are the same after they were written down and read", () => {
  fc.assert(
    fc.property(fc.array(charge), (charges) => {
      expect(unflatten(structuredClone(flatten(charges)))).toEqual(charges);
    }),
  );
});
