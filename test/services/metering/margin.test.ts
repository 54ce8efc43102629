import { expect, test } from "@jest/globals";
import { toHourlyCost } from "#lib/money/server-costs.ts";
import { toMargins } from "#src/services/metering/margin.ts";

const hourMs = 3_600_000n;
const server = (url: string, model: string, picoUsdPerHour?: bigint) => ({
  ...{ url, model },
  ...(picoUsdPerHour !== undefined && { picoUsdPerHour }),
});

test("a model's margin is what it earned less what its servers cost in that time", () => {
  const servers = [server("http://a", "chat", 100n), server("http://b", "chat", 60n), server("http://c", "embed", 7n)];
  const earned = [
    { model: "chat", amount: 1000n },
    { model: "embed", amount: 3n },
  ];
  expect(toMargins(earned, servers, 2n * hourMs)).toEqual([
    { model: "chat", revenue: 1000n, cost: 320n },
    { model: "embed", revenue: 3n, cost: 14n },
  ]);
  expect(toMargins([], servers.slice(2), hourMs / 2n)).toEqual([{ model: "embed", revenue: 0n, cost: 3n }]);
});

test("a server costs once: its models share it to the last pico-USD, its addresses are one", () => {
  const shared = ["x", "y", "z"].map((model) => server("http://a", model, 100n));
  expect(toMargins([], shared, hourMs).map(({ cost }) => cost)).toEqual([34n, 33n, 33n]);
  const addresses = [server("http://pool", "x", 100n), server("http://pool", "x", 100n)];
  expect(toMargins([], addresses, hourMs)).toEqual([{ model: "x", revenue: 0n, cost: 100n }]);
});

test("where a price is missing the cost is not known, and a model that is served no more has earned all the same", () => {
  const servers = [server("http://a", "x", 100n), server("http://b", "x"), server("http://c", "y", 5n)];
  expect(toMargins([{ model: "gone", amount: 9n }], servers, hourMs)).toEqual([
    { model: "gone", revenue: 9n, cost: undefined },
    { model: "x", revenue: 0n, cost: undefined },
    { model: "y", revenue: 0n, cost: 5n },
  ]);
});

test("all servers together cost each of them once, and nothing is said while one has no price", () => {
  const shared = [server("http://a", "x", 100n), server("http://a", "y"), server("http://b", "y", 7n)];
  expect(toHourlyCost(shared)).toBe(107n);
  expect(toHourlyCost([...shared, server("http://c", "z")])).toBeUndefined();
  expect(toHourlyCost([])).toBeUndefined();
});
