import { durationFromMs, timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { LotKind } from "#gen/tollgate/accounts/v1/account_pb.js";
import { AccountState } from "#gen/tollgate/accounts/v1/account_requests_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
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

test("frozen accounts are listed in pages, and no other; not by a name as well", async () => {
  const made = [await newAccount(), await newAccount(), await newAccount()];
  await client.freezeAccount({ accountId: made[0] ?? "", reason: "A test." });
  await client.freezeAccount({ accountId: made[2] ?? "", reason: "A test." });
  const ask = (pageToken = "") => client.listAccounts({ state: AccountState.FROZEN, pageSize: 1, pageToken });
  const all = await client.listAccounts({ state: AccountState.FROZEN, pageSize: 1000 });
  expect(all.accounts.every(({ frozen }) => frozen)).toBe(true);
  expect(all.accounts.map(({ id }) => id).slice(-2)).toEqual([made[0], made[2]]);
  const { accounts, nextPageToken } = await ask();
  expect(accounts.map(({ id }) => id)).toEqual([all.accounts[0]?.id]);
  expect((await ask(nextPageToken)).accounts.map(({ id }) => id)).toEqual([all.accounts[1]?.id]);
  expect((await client.listAccounts({ state: AccountState.IN_DEBT })).accounts).toEqual([]);
  expect(await detail(client.listAccounts({ state: AccountState.FROZEN, name: "a" }))).toMatchObject({
    reason: Reason.INVALID_ARGUMENT,
    parameter: "state",
  });
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
  const serviceClass = ServiceClass.PRIORITY;
  expect((await client.updateAccount({ accountId, serviceClass })).account?.serviceClass).toBe(serviceClass);
  const usual = await client.updateAccount({ accountId, updateMask: { paths: ["service_class"] } });
  expect(usual.account?.serviceClass).toBe(ServiceClass.UNSPECIFIED);
});

test("a closed account stays frozen, whatever it is frozen for since, and only closing makes it closed", async () => {
  const accountId = await newAccount();
  const byHand = detail(client.freezeAccount({ accountId, reason: "closed" }));
  expect(await byHand).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "reason" });
  await client.closeAccount({ accountId, requestId: "close" });
  for (const reason of ["fraud", "unpaid"]) {
    const unfrozen = detail(client.unfreezeAccount({ accountId }));
    expect(await unfrozen).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter: "account_id" });
    expect((await client.freezeAccount({ accountId, reason })).account).toMatchObject({ frozen: true });
  }
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

test("a caller learns about its own key", async () => {
  const accountId = await newAccount();
  const { key } = await client.createKey({ accountId });
  served.callAs({ kind: "caller", accountId, keyId: key?.id ?? "" });
  const status = await client.getKeyStatus({});
  expect(status).toMatchObject({ accountId, balancePicoUsd: usd, freeOnly: true, key: { id: key?.id } });
  expect(status.rateLimit).toMatchObject({ limit: 20, remaining: 20 });
  expect(await client.identifyCaller({})).toMatchObject({ accountId });
  served.callAs({ kind: "caller", accountId, keyId: "" });
  expect((await client.getKeyStatus({})).key).toBeUndefined();
  served.callAs(operator);
  expect((await detail(client.getKeyStatus({})))?.reason).toBe(Reason.PERMISSION_DENIED);
});

test("a caller sees its own account, keys and payments, and no other's", async () => {
  const accountId = await newAccount();
  const other = await newAccount();
  const { key } = await client.createKey({ accountId });
  served.callAs({ kind: "caller", accountId, keyId: key?.id ?? "" });
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
    served.callAs(operator);
  }
});

test.each(["", "nobody", v7()])("there is no account and no key %j", async (id) => {
  const noAccount = [
    () => client.getAccount({ accountId: id }),
    () => client.updateAccount({ accountId: id, name: "x" }),
    () => client.topUp({ accountId: id, amountPicoUsd: usd, reference: v7() }),
    () => client.createKey({ accountId: id }),
    () => client.freezeAccount({ accountId: id, reason: "x" }),
    () => client.unfreezeAccount({ accountId: id }),
    // An operator who names none sees the keys of all.
    () => client.listKeys({ accountId: id || "nobody" }),
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
    [() => client.createKey({ accountId, limits: { rpm: 0 } }), "limits.rpm"],
    [() => client.createKey({ accountId, limits: { models: ["open/chta"] } }), "limits.models"],
    [() => client.createKey({ accountId, limits: { expiresAt: timestampFromMs(clock.now()) } }), "limits.expires_at"],
    [() => client.createKey({ accountId, limits: { tokensPerMinute: 0 } }), "limits.tokens_per_minute"],
    [() => client.createKey({ accountId, limits: { maxInFlight: 1_000_001 } }), "limits.max_in_flight"],
    [() => client.createKey({ accountId, limits: { budgetPicoUsd: 0n } }), "limits.budget_pico_usd"],
    [() => client.updateKey({ keyId, updateMask: { paths: ["budget"] } }), "update_mask"],
    [() => client.updateKey({ keyId, limits: { rpm: 4_000_000_000 } }), "limits.rpm"],
    [() => client.rotateKey({ keyId, overlap: durationFromMs(-1) }), "overlap"],
    [() => client.rotateKey({ keyId, overlap: durationFromMs(366 * 86_400_000) }), "overlap"],
  ];
  for (const [call, parameter] of refused) {
    expect(await detail(call())).toMatchObject({ reason: Reason.INVALID_ARGUMENT, parameter });
  }
  expect(served.funds.credits.filter((credit) => credit.accountId === accountId)).toEqual([]);
});
