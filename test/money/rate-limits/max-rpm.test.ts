import { expect, test } from "@jest/globals";
import { defaultConfig } from "#src/config/load.ts";
import { findRatePolicy, maxInFlight, maxRpm, turnWeight } from "#src/money/rate-limits/max-rpm.ts";

const policy = findRatePolicy(defaultConfig());
const usd = (amount: number) => BigInt(amount) * 10n ** 12n;
const day = 86_400_000;

test.each([
  ["a new account, free money alone", { paid: 0, days: 0, free: true }, undefined, 20, true],
  ["granted or free money alone, old", { paid: 0, days: 900, free: true }, undefined, 20, true],
  ["paid a little", { paid: 5, days: 0, free: false }, undefined, 60, false],
  ["paid for the second tier", { paid: 50, days: 0, free: false }, undefined, 300, false],
  ["paid for the third tier, too young", { paid: 500, days: 13.99, free: false }, undefined, 300, false],
  ["paid for the third tier", { paid: 500, days: 14, free: false }, undefined, 2000, false],
  ["old but has not paid enough", { paid: 49, days: 900, free: false }, undefined, 60, false],
  ["paid once, nothing paid is left", { paid: 500, days: 20, free: true }, undefined, 20, true],
  ["an own limit above the tier", { paid: 5, days: 0, free: false }, 5000, 5000, false],
  ["an own limit below the tier", { paid: 500, days: 20, free: false }, 7, 7, false],
  ["an own limit above the free cap", { paid: 0, days: 0, free: true }, 5000, 20, true],
  ["an own limit below the free cap: a top-up would not lift it", { paid: 0, days: 0, free: true }, 7, 7, false],
  ["a clock that went back", { paid: 0, days: -1, free: false }, undefined, 60, false],
])("%s", (_, account, own, limit, freeTier) => {
  const now = 10_000 * day;
  const fundingState = { paidTotal: usd(account.paid), createdAt: now - account.days * day, freeOnly: account.free };
  expect(maxRpm(policy, own, fundingState, now)).toEqual({ limit, freeTier });
});

test.each([
  [
    "nothing is said: as many as a key's requests a minute",
    undefined,
    undefined,
    undefined,
    { paid: 5, free: false },
    60,
  ],
  ["a key may send more a minute", undefined, undefined, 500, { paid: 5, free: false }, 500],
  ["the tier says", 10, undefined, 500, { paid: 5, free: false }, 10],
  ["a better tier is reached", 10, undefined, undefined, { paid: 50, free: false }, 300],
  ["only free money is left", 10, undefined, undefined, { paid: 5, free: true }, 10],
  ["only free money is left, and no tier says", undefined, undefined, 500, { paid: 0, free: true }, 20],
  ["the free tier says", undefined, 3, 500, { paid: 50, free: true }, 3],
])("requests at once when %s", (_, tier, free, own, { paid, free: freeOnly }, expected) => {
  const limits = findRatePolicy({
    rate_tiers: [
      { paid_usd: "0", age_days: 0, rpm: 60, in_flight: tier, weight: 1 },
      { paid_usd: "50", age_days: 0, rpm: 300, weight: 4 },
    ],
    free_tier: { for: [], a_day: 0, grant_usd: "1", rpm: 20, in_flight: free },
  });
  expect(maxInFlight(limits, own, { createdAt: 0, paidTotal: usd(paid), freeOnly }, day)).toBe(expected);
});

test.each([
  [5, 1],
  [50, 4],
])("who has paid %d USD takes turns with a weight of %d", (paid, weight) => {
  const tiers = [
    { paid_usd: "0", age_days: 0, rpm: 60, weight: 1 },
    { paid_usd: "50", age_days: 0, rpm: 300, weight: 4 },
  ];
  const weighted = findRatePolicy({ rate_tiers: tiers, free_tier: { for: [], a_day: 0, grant_usd: "1", rpm: 20 } });
  expect(turnWeight(weighted, { createdAt: 0, paidTotal: usd(paid), freeOnly: false }, day)).toBe(weight);
});
