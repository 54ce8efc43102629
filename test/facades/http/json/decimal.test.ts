import { expect, test } from "@jest/globals";
import { decimal, usdPerMillion, usdPerToken } from "../../../../facades/http/json/decimal.ts";

test.each([
  [0n, 6, "0"],
  [1n, 0, "1"],
  [200_000n, 6, "0.2"],
  [1n, 12, "0.000000000001"],
  [-1_500_000n, 6, "-1.5"],
  [12_000_000n, 6, "12"],
  [2n ** 70n, 12, "1180591620.717411303424"],
])("%s with scale %i is %s", (value, scale, text) => {
  expect(decimal(value, scale)).toBe(text);
});

test("prices", () => {
  expect(usdPerToken(200_000n)).toBe("0.0000002");
  expect(usdPerMillion(250_000n)).toBe("0.25");
});
