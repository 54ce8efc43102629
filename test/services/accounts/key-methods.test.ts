import { durationFromMs, timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/key_limits_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { detail, operator, type ServedAccounts, serveAccounts, usd } from "../../identity/accounts/served-accounts.ts";

let served: ServedAccounts;
let client: ServedAccounts["client"];
let clock: ServedAccounts["clock"];
let newAccount: ServedAccounts["newAccount"];
beforeAll(async () => {
  served = await serveAccounts();
  ({ client, clock, newAccount } = served);
});
afterAll(() => served.close());

test("an account's keys are listed in pages, oldest first", async () => {
  const accountId = await newAccount();
  const made: string[] = [];
  for (let each = 0; each < 5; each++) {
    made.push((await client.createKey({ accountId })).key?.id ?? "");
  }
  const first = await client.listKeys({ accountId, pageSize: 2 });
  const ask = (page: object) => client.listKeys({ accountId, ...page });
  expect(
    await readAll(
      (page) => ask({ ...page, pageSize: 2 }),
      ({ keys }) => keys.map(({ id }) => id),
    ),
  ).toEqual(made);
  const foreign = client.listKeys({ accountId: await newAccount(), pageToken: first.nextPageToken });
  expect(await detail(foreign)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "page_token" });
  const forged = Buffer.from(JSON.stringify([`keys of ${accountId}`, "no uuid"])).toString("base64url");
  expect(await detail(ask({ pageToken: forged }))).toMatchObject({ parameter: "page_token" });
});

test("an account's keys are listed newest first, page by page, those that were revoked last", async () => {
  const accountId = await newAccount();
  const made: string[] = [];
  for (let each = 0; each < 6; each++) {
    made.push((await client.createKey({ accountId })).key?.id ?? "");
  }
  const [a = "", b = "", c = "", d = "", e = "", f = ""] = made;
  for (const keyId of [b, e]) {
    await client.revokeKey({ keyId });
  }
  const list = (pageSize: number, withoutRevoked = false) =>
    readAll(
      (page) => client.listKeys({ ...page, accountId, newestFirst: true, withoutRevoked, pageSize }),
      ({ keys }) => keys.map(({ id }) => id),
    );
  for (const pageSize of [1, 2, 3, 4, 5, 6, 0]) {
    expect(await list(pageSize)).toEqual([f, d, c, a, e, b]);
    expect(await list(pageSize, true)).toEqual([f, d, c, a]);
  }
  const { nextPageToken: pageToken } = await client.listKeys({ accountId, newestFirst: true, pageSize: 2 });
  expect(await detail(client.listKeys({ accountId, pageToken }))).toMatchObject({ parameter: "page_token" });
  const forged = (last: string) =>
    Buffer.from(JSON.stringify([`newest keys of ${accountId}`, last])).toString("base64url");
  for (const last of [a, `live ${a} ${b}`, `dead ${a}`, "revoked 1"]) {
    const asked = client.listKeys({ accountId, newestFirst: true, pageToken: forged(last) });
    expect(await detail(asked)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "page_token" });
  }
});

test("a key is shown once, listed without its secret, rotated and revoked", async () => {
  const accountId = await newAccount();
  const made = await client.createKey({ accountId, name: "laptop", limits: { rpm: 5 } });
  expect(made.secret).toMatch(/^tg-[0-9A-Za-z]{49}$/);
  expect(made.key).toMatchObject({ accountId, name: "laptop", limits: { rpm: 5 }, last4: made.secret.slice(-4) });
  const keyId = made.key?.id ?? "";

  const rotated = await client.rotateKey({ keyId, overlap: durationFromMs(1000) });
  expect(rotated.secret).not.toBe(made.secret);
  const { keys } = await client.listKeys({ accountId });
  expect(keys.map((key) => key.id)).toEqual([keyId, rotated.key?.id]);
  expect(keys[0]?.limits?.expiresAt && timestampDate(keys[0].limits.expiresAt).getTime()).toBe(clock.now() + 1000);

  const revoked = await client.revokeKey({ keyId: rotated.key?.id ?? "" });
  expect(revoked.key?.revokedAt).toBeDefined();
  expect((await client.updateKey({ keyId, limits: { rpm: 9 } })).key?.limits?.rpm).toBe(9);
  expect((await client.updateKey({ keyId, updateMask: { paths: ["limits.rpm"] } })).key?.limits?.rpm).toBeUndefined();
  expect(served.changed.filter((id) => id === accountId)).toHaveLength(4);
});

test("limits of a key are told, and those that are not named stay", async () => {
  const accountId = await newAccount();
  const limits = {
    models: ["open/chat"],
    tokensPerMinute: 1000,
    maxInFlight: 3,
    serviceClass: ServiceClass.FLEX,
    budgetPicoUsd: 5n * usd,
    budgetPeriod: BudgetPeriod.MONTH,
    expiresAt: timestampFromMs(clock.now() + 1000),
  };
  const { key } = await client.createKey({ accountId, limits });
  const keyId = key?.id ?? "";
  expect(key).toMatchObject({ limits });
  const lifted = await client.updateKey({ keyId, updateMask: { paths: ["limits.models", "limits.expires_at"] } });
  expect(lifted.key?.limits).toMatchObject({
    tokensPerMinute: 1000,
    maxInFlight: 3,
    budgetPicoUsd: 5n * usd,
    models: [],
  });
  expect(lifted.key?.limits?.expiresAt).toBeUndefined();
  const bare = await client.updateKey({ keyId, updateMask: { paths: ["*"] } });
  const { limits: none } = bare.key ?? {};
  expect(none).toMatchObject({
    models: [],
    serviceClass: ServiceClass.UNSPECIFIED,
    budgetPeriod: BudgetPeriod.UNSPECIFIED,
  });
  expect(none?.tokensPerMinute ?? none?.maxInFlight ?? none?.budgetPicoUsd).toBeUndefined();
  const total = await client.updateKey({ keyId, limits: { budgetPicoUsd: usd } });
  expect(total.key?.limits).toMatchObject({ budgetPicoUsd: usd, budgetPeriod: BudgetPeriod.TOTAL });
});

test("a period of no budget is refused with all that was asked for beside it", async () => {
  const accountId = await newAccount();
  const { key } = await client.createKey({ accountId });
  const keyId = key?.id ?? "";
  const period = { budgetPeriod: BudgetPeriod.MONTH };
  const lifted = { updateMask: { paths: ["limits.budget_pico_usd", "limits.budget_period"] } };
  const refused = { reason: Reason.INVALID_ARGUMENT, parameter: "limits.budget_period" };
  expect(await detail(client.createKey({ accountId, limits: period }))).toMatchObject(refused);
  const beside = { name: "laptop", limits: { ...period, maxInFlight: 3 } };
  expect(await detail(client.updateKey({ keyId, ...beside }))).toMatchObject(refused);
  const { keys } = await client.listKeys({ accountId });
  expect(keys).toHaveLength(1);
  expect(keys[0]).toMatchObject({ name: "", limits: { budgetPeriod: BudgetPeriod.UNSPECIFIED } });
  expect(keys[0]?.limits?.maxInFlight).toBeUndefined();

  await client.updateKey({ keyId, limits: { budgetPicoUsd: usd } });
  const { key: monthly } = await client.updateKey({ keyId, limits: period });
  expect(monthly?.limits).toMatchObject({ budgetPicoUsd: usd, ...period });
  expect(await detail(client.updateKey({ keyId, limits: period, ...lifted }))).toMatchObject(refused);
  expect((await client.updateKey({ keyId, ...lifted })).key?.limits?.budgetPicoUsd).toBeUndefined();
});

test("an unknown model is refused with the nearest that is served", async () => {
  const accountId = await newAccount();
  await expect(client.createKey({ accountId, limits: { models: ["open/caht"] } })).rejects.toThrow(
    "Did you mean 'open/chat'?",
  );
});

test("a request that is sent again makes no second key, and names the one that it made", async () => {
  const accountId = await newAccount();
  const create = () => client.createKey({ accountId, requestId: "make" });
  const [made, ...others] = await Promise.allSettled([create(), create(), create()]).then((all) => [
    ...all.filter(({ status }) => status === "fulfilled"),
    ...all.filter(({ status }) => status === "rejected"),
  ]);
  const keyId = made?.status === "fulfilled" ? (made.value.key?.id ?? "") : "";
  for (const other of others) {
    expect(readDetail((other as PromiseRejectedResult).reason)).toMatchObject({
      reason: Reason.KEY_ALREADY_MADE,
      made: keyId,
    });
  }
  expect((await client.listKeys({ accountId })).keys.map(({ id }) => id)).toEqual([keyId]);

  const { key } = await client.rotateKey({ keyId, requestId: "rotate" });
  expect(await detail(client.rotateKey({ keyId, requestId: "rotate" }))).toMatchObject({
    reason: Reason.KEY_ALREADY_MADE,
    made: key?.id,
  });
  expect((await client.createKey({ accountId: await newAccount(), requestId: "make" })).secret).not.toBe("");
});

test("the overlap of a rotation is a day unless it is given", async () => {
  const { key } = await client.createKey({ accountId: await newAccount() });
  await client.rotateKey({ keyId: key?.id ?? "" });
  const { keys } = await client.listKeys({ accountId: key?.accountId ?? "" });
  expect(keys[0]?.limits?.expiresAt && timestampDate(keys[0].limits.expiresAt).getTime()).toBe(
    clock.now() + 86_400_000,
  );
});

test("keys that are read tell how their budgets stand", async () => {
  const accountId = await newAccount();
  const limited = await client.createKey({
    accountId,
    limits: { budgetPicoUsd: usd, budgetPeriod: BudgetPeriod.DAY },
  });
  await client.createKey({ accountId });
  const { keys } = await client.listKeys({ accountId });
  const stands = { budgetSpentPicoUsd: 1n, budgetLeftPicoUsd: usd - 1n, budgetResetsAt: timestampFromMs(86_400_000) };
  expect(keys[0]).toMatchObject({ id: limited.key?.id, ...stands });
  expect(keys[1]?.budgetSpentPicoUsd).toBeUndefined();
  served.callAs({ kind: "caller", accountId, keyId: limited.key?.id ?? "" });
  expect((await client.getKeyStatus({})).key).toMatchObject(stands);
  served.callAs(operator);
});
