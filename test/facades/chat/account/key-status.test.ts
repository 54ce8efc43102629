import { expect, test } from "@jest/globals";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { startFront } from "../../http/front-server.ts";
import { expectDescribed } from "../../http/openapi.ts";
import { type Script, scriptedCore } from "../../http/scripted-core.ts";

async function testAuth(keyStatus: Script["keyStatus"]) {
  await using front = await startFront(
    scriptedCore({ keyStatus, rateLimit: { limit: 300, remaining: 299, resetAfterMs: 1500 } }).transport,
  );
  const response = await fetch(`${front.url}/test-auth`, { headers: { authorization: "Bearer tg-1" } });
  expect(response.status).toBe(200);
  const json = await response.json();
  expectDescribed("/test-auth", "get", 200, json);
  return { json, headers: response.headers };
}

const noLimits = {
  ...{ usd: null, per: null, usd_spent: null, usd_left: null, resets_at: null },
  ...{ tpm: null, in_flight: null, class: null },
};

test("the status of a key", async () => {
  const { json, headers } = await testAuth({
    key: { id: "key_1", name: "ci", prefix: "tg-abc", last4: "wxyz", limits: { expiresAt: { seconds: 1769860800n } } },
    accountId: "acc_1",
    rateLimit: { limit: 300, remaining: 299, resetAfter: { seconds: 1n, nanos: 500_000_000 } },
    balancePicoUsd: 12_340_000_000_001n,
    freeOnly: true,
    frozen: false,
  });
  expect(json).toEqual({
    status: "active",
    key: { id: "key_1", name: "ci", prefix: "tg-abc", last4: "wxyz", expires_at: "2026-01-31T12:00:00.000Z" },
    account_id: "acc_1",
    settings: { maxRpm: 300 },
    rate_limit: { limit: 300, remaining: 299, reset_seconds: 1.5 },
    balance_usd: "12.340000000001",
    free_only: true,
    frozen: false,
    limits: { ...noLimits, models: [] },
  });
  expect(headers.get("x-ratelimit-limit-requests")).toBe("300");
});

test("a key that never expires, and a service token, which is none", async () => {
  expect((await testAuth({ key: { id: "key_1" } })).json).toMatchObject({
    key: { expires_at: null },
    balance_usd: "0",
  });
  expect((await testAuth({ accountId: "acc_1" })).json).not.toHaveProperty("key");
});

test("the limits of a key and what it has used of them", async () => {
  const budget = { budgetSpentPicoUsd: 1n, budgetLeftPicoUsd: 10n ** 12n - 1n };
  const resets = { budgetResetsAt: { seconds: 1769904000n } };
  const limits = {
    budgetPicoUsd: 10n ** 12n,
    budgetPeriod: BudgetPeriod.MONTH,
    models: ["m"],
    tokensPerMinute: 1000,
    maxInFlight: 4,
    serviceClass: ServiceClass.FLEX,
  };
  const { json } = await testAuth({ key: { id: "key_1", ...budget, ...resets, limits } });
  expect(json).toMatchObject({
    limits: {
      ...{ usd: "1", per: "month", usd_spent: "0.000000000001", usd_left: "0.999999999999" },
      ...{ resets_at: "2026-02-01T00:00:00.000Z", models: ["m"], tpm: 1000, in_flight: 4, class: "flex" },
    },
  });
});
