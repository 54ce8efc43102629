import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { toCosts } from "../../../../facades/http/feeds/costs.ts";

const ask = (costPicoUsd: bigint) =>
  BigInt(
    toCosts([{ $typeName: "tollgate.metering.v1.RequestCost", requestId: "r", costPicoUsd }]).requests[0]
      ?.costNanoUsd ?? "-1",
  );

test.each([
  [0n, 0n],
  [1n, 1n],
  [999n, 1n],
  [1000n, 1n],
  [1001n, 2n],
  [9_007_199_254_740_993n, 9_007_199_254_741n],
])("%s pico-USD are %s nano-USD", (pico, nano) => {
  expect(ask(pico)).toBe(nano);
});

test("a cost is rounded up by less than one nano-USD, never down", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 62n }), (pico) => {
      const over = ask(pico) * 1000n - pico;
      return over >= 0n && over < 1000n;
    }),
  );
});
