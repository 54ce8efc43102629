import { durationFromMs, timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { type Client, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { BudgetPeriod } from "#gen/tollgate/accounts/v1/api_key_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "../../lib/errors/detail.ts";
import { systemRandom } from "../../lib/ids/random.ts";
import { readAll } from "../../lib/rpc/pages.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import { createAccountsService } from "../../src/accounts/accounts-service.ts";
import type { Principal } from "../../src/accounts/interface.ts";
import { ApiKeys } from "../../src/accounts/keys/api-keys.ts";
import { defaultConfig } from "../../src/config/load.ts";
import { createDirectTransport } from "../../src/grpc/direct/direct-transport.ts";
import { registration } from "../../src/grpc/server/registration.ts";
import { principalKey } from "../../src/interceptors/access/principal.ts";
import { limitRates } from "../../src/interceptors/limits/rate-limit.ts";
import { validateRequests } from "../../src/interceptors/validation/validate.ts";
import { findRatePolicy } from "../../src/metering/rate-limits/max-rpm.ts";
import { MemoryWindows } from "../../src/metering/rate-limits/memory.ts";
import { createRateLimits } from "../../src/metering/rate-limits/rate-limits.ts";
import { openStorage, type Storage } from "../../src/storage/orm.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { createFakeFunds } from "./fake-funds.ts";

const usd = 10n ** 12n;
const clock = new ManualClock();
const changed: string[] = [];
let principal: Principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };
let storage: Storage;
let funds: ReturnType<typeof createFakeFunds>;
let client: Client<typeof AccountsService>;
beforeAll(async () => {
  storage = await openStorage("sqlite::memory:");
  funds = createFakeFunds(storage, clock);
  const rateLimits = createRateLimits({
    policy: findRatePolicy(defaultConfig()),
    windows: new MemoryWindows(clock),
    fundingState: (accountId) => funds.statement(accountId),
    clock,
  });
  const implementation = createAccountsService({
    accounts: new Accounts(storage),
    keys: new ApiKeys({ storage, clock, random: systemRandom, prefix: "tg-", pepper: { version: 1, secret: "p" } }),
    funds,
    clock,
    random: systemRandom,
    accountChanged: (accountId) => void changed.push(accountId),
    budgetState: async ({ limit }) => ({ spent: 1, left: limit - 1, resetsAt: 86_400_000 }),
    maxKeys: 20,
    freeGrant: Number(usd),
    models: () => ["open/chat", "open/embed"],
  });
  const transport = createDirectTransport(
    [registration(AccountsService, implementation)],
    [
      (next) => (request) => {
        request.contextValues.set(principalKey, principal);
        return next(request);
      },
      limitRates(rateLimits),
      validateRequests([AccountsService]),
    ],
  );
  client = createClient(AccountsService, transport);
});
afterAll(() => storage.close());

async function detail(answer: Promise<unknown>) {
  return answer.then(
    () => undefined,
    (error: unknown) => readDetail(error),
  );
}

async function newAccount(): Promise<string> {
  return (await client.createAccount({ name: "A" })).account?.id ?? "";
}

test("a new account has the free tier's money", async () => {
  const { account } = await client.createAccount({ name: "Ada", maxKeys: 2 });
  expect(account).toMatchObject({ name: "Ada", maxKeys: 2, balancePicoUsd: usd, freeOnly: true, paidTotalPicoUsd: 0n });
  expect(account?.lots).toMatchObject([{ kind: LotKind.FREE, grantedPicoUsd: usd, remainingPicoUsd: usd }]);
  expect(account?.createdAt && timestampDate(account.createdAt).getTime()).toBe(clock.now());
  expect((await client.getAccount({ accountId: account?.id ?? "" })).account).toEqual(account);
});

test("accounts are listed in pages, oldest first", async () => {
  const made = [await newAccount(), await newAccount(), await newAccount()];
  const listed: string[] = [];
  let pageToken = "";
  do {
    const page = await client.listAccounts({ pageSize: 2, pageToken });
    expect(page.accounts.length).toBeLessThanOrEqual(2);
    listed.push(...page.accounts.map((account) => account.id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(listed.slice(-3)).toEqual(made);
  expect(new Set(listed).size).toBe(listed.length);
  const { accounts } = await client.listAccounts({ pageSize: 1000, withoutMoney: true });
  expect(accounts.map(({ id }) => id)).toEqual(listed);
  expect(accounts.every(({ balancePicoUsd, lots }) => balancePicoUsd === 0n && lots.length === 0)).toBe(true);
});

test("accounts are found by how their names begin, whatever the case, by name and in pages", async () => {
  const names = ["Örtel & Co", "zeta 2", "Zeta", "ÖRTEL", "ZETA 10", "zeta%", "alpha zeta"];
  for (const name of names) {
    await client.createAccount({ name });
  }
  const find = (name: string) =>
    readAll(
      (page) => client.listAccounts({ name, ...page, pageSize: 2 }),
      ({ accounts }) => accounts.map((account) => account.name),
    );
  expect(await find("zETA")).toEqual(["Zeta", "ZETA 10", "zeta 2", "zeta%"]);
  expect(await find("zeta%")).toEqual(["zeta%"]);
  expect(await find("örtel")).toEqual(["ÖRTEL", "Örtel & Co"]);
  expect(await find("nobody")).toEqual([]);
  const [renamed] = (await client.listAccounts({ name: "alpha zeta" })).accounts;
  await client.updateAccount({ accountId: renamed?.id ?? "", name: "Zeta 3" });
  expect(await find("zeta 3")).toEqual(["Zeta 3"]);
  const { nextPageToken: pageToken } = await client.listAccounts({ name: "zeta", pageSize: 2 });
  for (const name of ["", "Zeta 3"]) {
    const foreign = client.listAccounts({ name, pageToken });
    expect(await detail(foreign)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "page_token" });
  }
  const forged = Buffer.from(JSON.stringify(["accounts by zeta", "no key"])).toString("base64url");
  expect(await detail(client.listAccounts({ name: "zeta", pageToken: forged }))).toMatchObject({
    parameter: "page_token",
  });
});

test("accounts are listed by their ids, oldest first, without those that there are not", async () => {
  const [first, second, third] = [await newAccount(), await newAccount(), await newAccount()];
  const list = async (accountIds: string[]) =>
    (await client.listAccounts({ accountIds })).accounts.map((account) => account.id);
  expect(await list([third, "no uuid", first, v7(), second])).toEqual([first, second, third]);
  expect(await list(["no uuid"])).toEqual([]);
  const { accounts, nextPageToken } = await client.listAccounts({ accountIds: [first, third], pageSize: 1 });
  expect(accounts).toMatchObject([{ id: first }]);
  const next = await client.listAccounts({ accountIds: [first, third], pageSize: 1, pageToken: nextPageToken });
  expect(next).toMatchObject({ accounts: [{ id: third }], nextPageToken: "" });
  const both = client.listAccounts({ accountIds: [first], name: "A" });
  expect(await detail(both)).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "name" });
});

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

test("all lots of an account are listed in pages, oldest first", async () => {
  const accountId = await newAccount();
  for (let each = 0; each < 4; each++) {
    await client.grant({ accountId, amountPicoUsd: usd, reference: `${accountId} ${each}` });
  }
  const ask = (page: object) => client.getAccount({ accountId, ...page });
  const made = (await ask({})).account?.lots;
  expect(made).toHaveLength(5);
  expect(
    await readAll(
      (page) => ask({ ...page, allLots: true, pageSize: 2 }),
      ({ account }) => account?.lots ?? [],
    ),
  ).toEqual(made);
  const { nextPageToken: pageToken } = await ask({ allLots: true, pageSize: 2 });
  const refused = { reason: Reason.INVALID_ARGUMENT, parameter: "page_token" };
  const foreign = client.getAccount({ accountId: await newAccount(), allLots: true, pageToken });
  expect(await detail(foreign)).toMatchObject(refused);
  expect(await detail(ask({ pageToken }))).toMatchObject(refused);
  expect(await detail(ask({ pageSize: 2 }))).toMatchObject({ ...refused, parameter: "page_size" });
  expect(await detail(ask({ allLots: true, pageSize: -1 }))).toMatchObject({ ...refused, parameter: "page_size" });
});

test("label and bound change apart", async () => {
  const accountId = await newAccount();
  expect((await client.updateAccount({ accountId, maxKeys: 5 })).account).toMatchObject({ name: "A", maxKeys: 5 });
  expect((await client.updateAccount({ accountId, name: "B" })).account).toMatchObject({ name: "B", maxKeys: 5 });
  expect((await client.updateAccount({ accountId })).account).toMatchObject({ name: "B", maxKeys: 5 });
  const updateMask = { paths: ["max_keys"] };
  const masked = await client.updateAccount({ accountId, name: "C", maxKeys: 6, updateMask });
  expect(masked.account).toMatchObject({ name: "B", maxKeys: 6 });
  const cleared = await client.updateAccount({ accountId, updateMask: { paths: ["*"] } });
  expect(cleared.account).toMatchObject({ name: "", maxKeys: 20 });
  for (const paths of [["maxKeys"], ["name", "*"], [""]]) {
    const refused = detail(client.updateAccount({ accountId, name: "D", updateMask: { paths } }));
    expect(await refused).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "update_mask" });
  }
});

test("an account is frozen with a reason, and limited, until that is lifted", async () => {
  const accountId = await newAccount();
  const frozen = (await client.freezeAccount({ accountId, reason: "unpaid" })).account;
  expect(frozen).toMatchObject({ frozen: true, frozenReason: "unpaid", balancePicoUsd: usd });
  clock.advance(1000);
  const again = (await client.freezeAccount({ accountId, reason: "fraud" })).account;
  expect(again).toMatchObject({ frozenReason: "fraud", frozenAt: frozen?.frozenAt });
  expect((await client.topUp({ accountId, amountPicoUsd: usd, reference: v7() })).balancePicoUsd).toBe(2n * usd);
  for (const _ of [1, 2]) {
    const free = (await client.unfreezeAccount({ accountId })).account;
    expect(free).toMatchObject({ frozen: false, frozenReason: "" });
    expect(free?.frozenAt).toBeUndefined();
  }
  const limited = await client.updateAccount({ accountId, maxInFlight: 2, lowBalancePicoUsd: usd });
  expect(limited.account).toMatchObject({ name: "A", maxInFlight: 2, lowBalancePicoUsd: usd });
  const lifted = await client.updateAccount({ accountId, updateMask: { paths: ["max_in_flight"] } });
  expect(lifted.account?.maxInFlight).toBeUndefined();
  expect(lifted.account?.lowBalancePicoUsd).toBe(usd);
});

test("payments and grants become lots", async () => {
  const accountId = await newAccount();
  const paid = await client.topUp({ accountId, amountPicoUsd: 10n * usd, reference: "pay" });
  expect(paid).toMatchObject({ accountId, balancePicoUsd: 11n * usd });
  const expiresAt = timestampFromMs(clock.now() + 1000);
  await client.grant({ accountId, amountPicoUsd: 2n * usd, reference: "gift", expiresAt });
  const { account } = await client.getAccount({ accountId });
  expect(account).toMatchObject({ balancePicoUsd: 13n * usd, paidTotalPicoUsd: 10n * usd, freeOnly: false });
  expect(account?.lots.map((lot) => lot.kind)).toEqual([LotKind.FREE, LotKind.PAID, LotKind.GRANT]);
  expect(account?.lots[1]?.id).toBe(paid.lotId);
  expect(account?.lots[2]?.expiresAt).toEqual(expiresAt);
});

test("a key is shown once, listed without its secret, rotated and revoked", async () => {
  const accountId = await newAccount();
  const made = await client.createKey({ accountId, name: "laptop", rpm: 5 });
  expect(made.secret).toMatch(/^tg-[0-9A-Za-z]{49}$/);
  expect(made.key).toMatchObject({ accountId, name: "laptop", rpm: 5, last4: made.secret.slice(-4) });
  const keyId = made.key?.id ?? "";

  const rotated = await client.rotateKey({ keyId, overlap: durationFromMs(1000) });
  expect(rotated.secret).not.toBe(made.secret);
  const { keys } = await client.listKeys({ accountId });
  expect(keys.map((key) => key.id)).toEqual([keyId, rotated.key?.id]);
  expect(keys[0]?.expiresAt && timestampDate(keys[0].expiresAt).getTime()).toBe(clock.now() + 1000);

  const revoked = await client.revokeKey({ keyId: rotated.key?.id ?? "" });
  expect(revoked.key?.revokedAt).toBeDefined();
  expect((await client.updateKey({ keyId, rpm: 9 })).key?.rpm).toBe(9);
  expect((await client.updateKey({ keyId, updateMask: { paths: ["rpm"] } })).key?.rpm).toBeUndefined();
  expect(changed.filter((id) => id === accountId)).toHaveLength(4);
});

test("limits of a key are told, and those that are not named stay", async () => {
  const accountId = await newAccount();
  const limits = {
    models: ["open/chat"],
    tokensPerMinute: 1000,
    maxInFlight: 3,
    budgetPicoUsd: 5n * usd,
    budgetPeriod: BudgetPeriod.MONTH,
    expiresAt: timestampFromMs(clock.now() + 1000),
  };
  const { key } = await client.createKey({ accountId, ...limits });
  const keyId = key?.id ?? "";
  expect(key).toMatchObject(limits);
  const lifted = await client.updateKey({ keyId, updateMask: { paths: ["models", "expires_at"] } });
  expect(lifted.key).toMatchObject({ tokensPerMinute: 1000, maxInFlight: 3, budgetPicoUsd: 5n * usd, models: [] });
  expect(lifted.key?.expiresAt).toBeUndefined();
  const bare = await client.updateKey({ keyId, updateMask: { paths: ["*"] } });
  expect(bare.key).toMatchObject({ models: [], budgetPeriod: BudgetPeriod.UNSPECIFIED });
  expect(bare.key?.tokensPerMinute ?? bare.key?.maxInFlight ?? bare.key?.budgetPicoUsd).toBeUndefined();
  const total = await client.updateKey({ keyId, budgetPicoUsd: usd });
  expect(total.key).toMatchObject({ budgetPicoUsd: usd, budgetPeriod: BudgetPeriod.TOTAL });
});

test("an unknown model is refused with the nearest that is served", async () => {
  const accountId = await newAccount();
  await expect(client.createKey({ accountId, models: ["open/caht"] })).rejects.toThrow("Did you mean 'open/chat'?");
});

test("a request that is sent again makes no second account", async () => {
  const requestId = v7();
  const answers = await Promise.all(Array.from({ length: 5 }, () => client.createAccount({ name: "once", requestId })));
  const ids = answers.map(({ account }) => account?.id);
  expect(new Set(ids).size).toBe(1);
  expect((await client.createAccount({ name: "later", requestId })).account).toMatchObject({
    id: ids[0],
    name: "once",
  });
  const refused = await detail(client.createAccount({ requestId: "with space" }));
  expect(refused).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "request_id" });
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
  expect(keys[0]?.expiresAt && timestampDate(keys[0].expiresAt).getTime()).toBe(clock.now() + 86_400_000);
});

test("a caller learns about its own key", async () => {
  const accountId = await newAccount();
  const { key } = await client.createKey({ accountId });
  principal = { kind: "caller", accountId, keyId: key?.id ?? "" };
  const status = await client.getKeyStatus({});
  expect(status).toMatchObject({ accountId, balancePicoUsd: usd, freeOnly: true, key: { id: key?.id } });
  expect(status.rateLimit).toMatchObject({ limit: 20, remaining: 20 });
  expect(await client.identifyCaller({})).toMatchObject({ accountId });
  principal = { kind: "caller", accountId, keyId: "" };
  expect((await client.getKeyStatus({})).key).toBeUndefined();
  principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };
  expect((await detail(client.getKeyStatus({})))?.reason).toBe(Reason.PERMISSION_DENIED);
});

test("a caller sees its own account, keys and payments, and no other's", async () => {
  const accountId = await newAccount();
  const other = await newAccount();
  const { key } = await client.createKey({ accountId });
  principal = { kind: "caller", accountId, keyId: key?.id ?? "" };
  try {
    for (const named of ["", accountId]) {
      expect((await client.getAccount({ accountId: named })).account).toMatchObject({ id: accountId, name: "" });
      expect((await client.listKeys({ accountId: named })).keys).toMatchObject([{ id: key?.id }]);
      expect((await client.listPayments({ accountId: named })).payments).toEqual([]);
    }
    for (const call of [client.getAccount, client.listKeys, client.listPayments]) {
      expect((await detail(call({ accountId: other })))?.reason).toBe(Reason.PERMISSION_DENIED);
    }
  } finally {
    principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };
  }
});

test("keys that are read tell how their budgets stand", async () => {
  const accountId = await newAccount();
  const limited = await client.createKey({ accountId, budgetPicoUsd: usd, budgetPeriod: BudgetPeriod.DAY });
  await client.createKey({ accountId });
  const { keys } = await client.listKeys({ accountId });
  const stands = { budgetSpentPicoUsd: 1n, budgetLeftPicoUsd: usd - 1n, budgetResetsAt: timestampFromMs(86_400_000) };
  expect(keys[0]).toMatchObject({ id: limited.key?.id, ...stands });
  expect(keys[1]?.budgetSpentPicoUsd).toBeUndefined();
  principal = { kind: "caller", accountId, keyId: limited.key?.id ?? "" };
  expect((await client.getKeyStatus({})).key).toMatchObject(stands);
  principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };
});

test.each(["", "nobody", v7()])("there is no account and no key %j", async (id) => {
  const noAccount = [
    () => client.getAccount({ accountId: id }),
    () => client.updateAccount({ accountId: id, name: "x" }),
    () => client.topUp({ accountId: id, amountPicoUsd: usd, reference: v7() }),
    () => client.createKey({ accountId: id }),
    () => client.freezeAccount({ accountId: id, reason: "x" }),
    () => client.unfreezeAccount({ accountId: id }),
    () => client.listKeys({ accountId: id }),
    () => client.listPayments({ accountId: id }),
  ];
  for (const call of noAccount) {
    expect((await detail(call()))?.reason).toBe(Reason.ACCOUNT_NOT_FOUND);
  }
  const noKey = [
    () => client.rotateKey({ keyId: id }),
    () => client.revokeKey({ keyId: id }),
    () => client.updateKey({ keyId: id }),
  ];
  for (const call of noKey) {
    expect((await detail(call()))?.reason).toBe(Reason.KEY_NOT_FOUND);
  }
});

test("wrong fields are named", async () => {
  const accountId = await newAccount();
  const movement = { accountId, amountPicoUsd: usd, reference: "r" };
  const { key } = await client.createKey({ accountId });
  const keyId = key?.id ?? "";
  const refused: [() => Promise<unknown>, string][] = [
    [() => client.createAccount({ name: "x".repeat(201) }), "name"],
    [() => client.createAccount({ maxKeys: 0 }), "max_keys"],
    [() => client.updateAccount({ accountId, maxKeys: 10_001 }), "max_keys"],
    [() => client.updateAccount({ accountId, maxInFlight: 0 }), "max_in_flight"],
    [() => client.updateAccount({ accountId, lowBalancePicoUsd: 0n }), "low_balance_pico_usd"],
    [() => client.freezeAccount({ accountId, reason: "" }), "reason"],
    [() => client.freezeAccount({ accountId, reason: "x".repeat(201) }), "reason"],
    [() => client.topUp({ ...movement, amountPicoUsd: 0n }), "amount_pico_usd"],
    [() => client.topUp({ ...movement, amountPicoUsd: -1n }), "amount_pico_usd"],
    [() => client.topUp({ ...movement, amountPicoUsd: 2n ** 53n }), "amount_pico_usd"],
    [() => client.topUp({ ...movement, reference: "" }), "reference"],
    [() => client.grant({ ...movement, expiresAt: timestampFromMs(clock.now()) }), "expires_at"],
    [() => client.createKey({ accountId, rpm: 0 }), "rpm"],
    [() => client.createKey({ accountId, models: ["open/chta"] }), "models"],
    [() => client.createKey({ accountId, expiresAt: timestampFromMs(clock.now()) }), "expires_at"],
    [() => client.createKey({ accountId, tokensPerMinute: 0 }), "tokens_per_minute"],
    [() => client.createKey({ accountId, maxInFlight: 1_000_001 }), "max_in_flight"],
    [() => client.createKey({ accountId, budgetPicoUsd: 0n }), "budget_pico_usd"],
    [() => client.updateKey({ keyId, updateMask: { paths: ["budget"] } }), "update_mask"],
    [() => client.updateKey({ keyId, rpm: 4_000_000_000 }), "rpm"],
    [() => client.rotateKey({ keyId, overlap: durationFromMs(-1) }), "overlap"],
    [() => client.rotateKey({ keyId, overlap: durationFromMs(366 * 86_400_000) }), "overlap"],
  ];
  for (const [call, parameter] of refused) {
    expect(await detail(call())).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter });
  }
  expect(funds.credits.filter((credit) => credit.accountId === accountId)).toEqual([]);
});
