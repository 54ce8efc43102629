import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Code, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import pg from "pg";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { BooksService, BooksSum } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { newCheckedSecret } from "../../lib/ids/checked-secret.ts";
import { systemRandom } from "../../lib/ids/random.ts";
import { readIdShard, readKeyShard, readRequestShard } from "../../lib/ids/shard.ts";
import { readAll } from "../../lib/rpc/pages.ts";
import { defaultFleetConfig, startDefaultFleet } from "../../src/simulator/fleet.ts";
import type { Simulator } from "../../src/simulator/server.ts";
import { type Door, startDoor } from "../support/door.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";

// One process on three databases of a real PostgreSQL, the last of which a test can cut off.

const postgres = process.env.TOLLGATE_TEST_POSTGRES_URL ?? "";
const names = [0, 1, 2].map((number) => `tollgate_shards_${process.pid}_${number}`);

interface Customer {
  readonly account: string;
  readonly keyId: string;
  readonly key: string;
}

let fleet: Simulator[];
let firstDoor: Door;
let door: Door;
let urls: string[];
let site: Site;
let config: string;
let tollgate: Tollgate;
let customers: Customer[];

beforeAll(async () => {
  for (const name of names) {
    await onServer(`create database ${name}`);
  }
  urls = names.map((name) => Object.assign(new URL(postgres), { pathname: `/${name}` }).href);
  firstDoor = await startDoor(urls[0] ?? "");
  door = await startDoor(urls[2] ?? "");
  fleet = await startDefaultFleet({ speed: 0 });
  site = await createSite({
    TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-test-0123456789",
    TOLLGATE_KEY_PEPPER: "pepper-of-the-test-0123456789abcdef-0123456789",
  });
  config = await configure([urls[1] ?? "", door.url]);
  tollgate = await startTollgate(site, "serve", "--config", config);
  customers = await Promise.all([0, 1, 2].map(customerOn));
}, 120_000);

afterAll(async () => {
  await tollgate?.stop();
  await Promise.all(fleet.map((simulator) => simulator.close()));
  await site?.remove();
  await Promise.all([firstDoor?.shut(), door?.shut()]);
  for (const name of names) {
    await onServer(`drop database if exists ${name} with (force)`);
  }
}, 90_000);

async function onServer(statement: string, url = postgres, parameters: string[] = []): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(statement, parameters).finally(() => client.end());
  return rows;
}

const configure = (shards: string[], name?: string) =>
  site.configure({ ...freePorts, storage: { url: firstDoor.url, shards }, models: defaultFleetConfig(fleet) }, name);

const admin = (...args: string[]) => tollgate.admin(...args);

/** Makes accounts until one is in the database of a number, and gives it money and a key. */
async function customerOn(shard: number): Promise<Customer> {
  for (;;) {
    const { id: account } = (await admin("accounts", "create", "--name", `customer ${shard}`)) as { id: string };
    if (readIdShard(account) !== shard) {
      continue;
    }
    await admin("accounts", "top-up", account, "--usd", "10", "--ref", `payment-${account}`);
    const made = (await admin("keys", "create", account, "--rpm", "1000")) as { id: string; key: string };
    return { account, keyId: made.id, key: made.key };
  }
}

const ask = ({ key }: Customer) =>
  fetch(`${tollgate.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: "tollgate-sim/plain",
      max_tokens: 5,
      messages: [{ role: "user", content: "Tell me about toll gates." }],
    }),
    signal: AbortSignal.timeout(30_000),
  });

/** The status of a request, whose answer is read. 0: no answer came. */
async function statusOf(customer: Customer): Promise<number> {
  try {
    const answer = await ask(customer);
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

const [first, second, third] = [0, 1, 2].map((number) => () => customers[number] as Customer) as [
  () => Customer,
  () => Customer,
  () => Customer,
];

test("each database serves its accounts, and ids say which it is", async () => {
  for (const [shard, customer] of customers.entries()) {
    const answer = await ask(customer);
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
    const requestId = String(answer.headers.get("x-request-id"));
    const marks = [readIdShard(customer.keyId), readKeyShard(customer.key), readRequestShard(requestId)];
    expect(marks).toEqual([shard, shard, shard]);
    expect(await admin("receipt", requestId)).toMatchObject({ request_id: requestId, account_id: customer.account });
  }
}, 60_000);

test("a caller's own request id is found in whichever database has it", async () => {
  const client = createClient(InferenceService, grpc());
  for (const { key, account } of customers) {
    const requestId = `own-${account}`;
    const prompt = { case: "text", value: "Tell me about toll gates." } as const;
    const asked = { requestId, model: "tollgate-sim/plain", prompt, maxOutputTokens: 5 };
    const answers = [];
    for await (const answer of client.generate(asked, { headers: { authorization: `Bearer ${key}` } })) {
      answers.push(answer);
    }
    expect(answers.length).toBeGreaterThan(0);
    expect(await admin("receipt", requestId)).toMatchObject({ request_id: requestId, account_id: account });
  }
  await expect(admin("receipt", "own-of-nobody")).rejects.toThrow("There is no receipt");
}, 60_000);

test("lists, usage and the proof are of all databases", async () => {
  const listed = (await admin("accounts", "list")) as { id: string }[];
  const ids = listed.map(({ id }) => id);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(customers.map(({ account }) => account)));
  const byAccount = (await admin("usage")) as { account_id: string; requests: number }[];
  expect(byAccount.map((row) => [row.account_id, row.requests])).toEqual(
    customers.map(({ account }) => [account, 2]).toSorted(),
  );
  const proof = (await admin("reconcile")) as Proof & { databases: (Proof & { database: number })[] };
  expect(proof).toMatchObject({ ok: true, accounts: listed.length, receipts: 6 });
  expect(Number(proof.granted_usd)).toBe(30 + listed.length);
  expect(proof.databases.map(({ database, ok, receipts }) => [database, ok, receipts])).toEqual([
    [0, true, 2],
    [1, true, 2],
    [2, true, 2],
  ]);
  const granted = proof.databases.reduce((sum, one) => sum + Number(one.granted_usd), 0);
  expect(granted).toBe(Number(proof.granted_usd));
  const addends = await readAll(
    (page) => booksClient().listAddends({ sum: BooksSum.GRANTED, ...page, pageSize: 1 }, call()),
    (answer) => answer.addends,
  );
  // One database after another, every account of it once.
  expect(addends.map(({ accountId }) => accountId)).toEqual(ids.toSorted(compareByShard));
  const parts = addends.reduce((sum, { amountPicoUsd }) => sum + BigInt(amountPicoUsd), 0n);
  expect(parts).toBe(BigInt(Number(proof.granted_usd)) * 10n ** 12n);
}, 60_000);

const compareByShard = (one: string, other: string) => readIdShard(one) - readIdShard(other) || (one < other ? -1 : 1);

test("pages of a merged list tell every account once", async () => {
  const client = accountsClient();
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await client.listAccounts({ pageSize: 1, pageToken, withoutMoney: true }, call());
    seen.push(...page.accounts.map(({ id }) => id));
    ({ nextPageToken: pageToken } = page);
  } while (pageToken !== "");
  expect(seen).toEqual(((await admin("accounts", "list")) as { id: string }[]).map(({ id }) => id));
}, 60_000);

interface Proof {
  readonly ok: boolean;
  readonly granted_usd: string;
  readonly accounts: number;
  readonly receipts: number;
}

const grpc = () => createGrpcTransport({ baseUrl: `http://${tollgate.addresses.grpc}` });
const accountsClient = () => createClient(AccountsService, grpc());
const booksClient = () => createClient(BooksService, grpc());
const call = () => ({ headers: { authorization: `Bearer ${site.env.TOLLGATE_OPERATOR_TOKEN}` } });

test("a payment reference stands for one account in all databases", async () => {
  const reference = `payment-${second().account}`;
  for (const { account } of [first(), third()]) {
    const refused = admin("accounts", "top-up", account, "--usd", "10", "--ref", reference);
    await expect(refused).rejects.toThrow("already used for another account");
  }
  const again = admin("accounts", "top-up", second().account, "--usd", "10", "--ref", reference);
  expect(await again).toMatchObject({ id: second().account });
}, 60_000);

test("a core that was started before a database was added serves what it knows, and refuses what it cannot judge", async () => {
  const setCount = (count: number) =>
    onServer("update setting set value = (value::jsonb || $1::jsonb)::text where name = 'shards'", urls[0], [
      `{"count":${count}}`,
    ]);
  await setCount(4);
  const inNewer = { ...second(), key: newCheckedSecret("tg-", systemRandom, 3) };
  await eventually("its key is refused for now", async () => (await statusOf(inNewer)) === 503);
  expect([await statusOf(first()), await statusOf(second())]).toEqual([200, 200]);
  await expect(admin("accounts", "list")).rejects.toThrow("4 databases, and this core was started with 3");
  await setCount(3);
  await eventually("nobody has that key", async () => (await statusOf(inNewer)) === 401);
  expect(await admin("accounts", "list")).toBeDefined();
}, 60_000);

test("a request makes one account, however often it is sent", async () => {
  const client = accountsClient();
  const made = await Promise.all(
    Array.from({ length: 10 }, () => client.createAccount({ name: "once", requestId: "one-request" }, call())),
  );
  expect(new Set(made.map(({ account }) => account?.id)).size).toBe(1);
}, 60_000);

test("a key is rotated and revoked in its own database", async () => {
  const customer = await customerOn(1);
  const rotated = (await admin("keys", "rotate", customer.keyId, "--overlap", "0s")) as { id: string; key: string };
  expect([readIdShard(rotated.id), readKeyShard(rotated.key)]).toEqual([1, 1]);
  expect([await statusOf(customer), await statusOf({ ...customer, key: rotated.key })]).toEqual([401, 200]);
  await admin("keys", "revoke", rotated.id);
  expect(await statusOf({ ...customer, key: rotated.key })).toBe(401);
}, 60_000);

test("a price that is set holds for money that comes in anywhere", async () => {
  const model = "tollgate-sim/plain";
  await admin("prices", "pin", model, "--input", "7", "--output", "9");
  for (const shard of [0, 1, 2]) {
    const customer = await customerOn(shard);
    const answer = await ask(customer);
    await answer.arrayBuffer();
    const receipt = admin("receipt", String(answer.headers.get("x-request-id")));
    const rates = { input_usd_per_million: "7.00", output_usd_per_million: "9.00" };
    expect(await receipt).toMatchObject({ lines: [expect.objectContaining(rates)] });
  }
  await admin("prices", "unpin", model);
}, 60_000);

test("events of every database are delivered to the endpoints, and listed together", async () => {
  const told = new Set<string>();
  const receiver = createServer((request, response) => {
    let body = "";
    request.on("data", (piece: Buffer) => {
      body += piece.toString();
    });
    request.on("end", () => {
      told.add((JSON.parse(body) as { data: { account_id: string } }).data.account_id);
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const endpoint = ["--url", `http://127.0.0.1:${port}/`, "--events", "account.granted"];
  const { id } = (await admin("webhooks", "create", ...endpoint)) as { id: string };
  const accounts = customers.map(({ account }) => account);
  let payments = 0;
  await eventually("all are told", async () => {
    // An endpoint is not told of what happened before it, and a database's clock may be behind that of the first.
    for (const account of accounts.filter((one) => !told.has(one))) {
      await admin("accounts", "grant", account, "--usd", "1", "--ref", `told-${payments++}`);
    }
    return accounts.every((account) => told.has(account));
  });
  const events = (await admin("events", "list", "--type", "account.granted")) as Listed[];
  expect(events.map((event) => event.account_id)).toEqual(expect.arrayContaining(accounts));
  const deliveries = (await admin("webhooks", "deliveries", id)) as Listed[];
  expect(deliveries.length).toBeGreaterThanOrEqual(3);
  const changes = (await admin("audit", "list")) as Listed[];
  expect(changes.map((change) => change.target)).toEqual(expect.arrayContaining([...accounts, id]));
  await admin("webhooks", "delete", id);
  receiver.close();
}, 60_000);

interface Listed {
  readonly account_id: string;
  readonly target: string;
}

test("databases that are away leave the other serving, the first one too, and are served again when they are back", async () => {
  const page = { pageSize: 1, withoutMoney: true };
  // Nothing of theirs is known or leased, with which a core goes on for ten seconds.
  const unused = [await customerOn(0), await customerOn(2)] as const;
  const { nextPageToken: pageToken } = await accountsClient().listAccounts(page, call());
  door.hang();
  expect(await statusOf(second())).toBe(200);
  await Promise.all([firstDoor.shut(), door.shut()]);
  await eventually("their accounts are refused", async () => {
    return (await statusOf(unused[0])) === 503 && (await statusOf(unused[1])) === 503;
  });
  expect(await statusOf(second())).toBe(200);
  const next = () => accountsClient().listAccounts({ ...page, pageToken }, call());
  await expect(next()).rejects.toMatchObject({ code: Code.Unavailable });
  expect(await admin("accounts", "show", second().account)).toMatchObject({ id: second().account });
  const made = (await admin("keys", "create", second().account)) as { id: string; key: string };
  expect(await statusOf({ ...second(), key: made.key })).toBe(200);
  await Promise.all([firstDoor.open(), door.open()]);
  await eventually("their accounts are served again", async () => {
    return (await statusOf(first())) === 200 && (await statusOf(third())) === 200;
  });
  // A pool that has just lost its server may refuse once more.
  let listed: { id: string }[] = [];
  let page2: string[] = [];
  await eventually("all are listed again, from where the list broke off", async () => {
    try {
      listed = (await admin("accounts", "list")) as { id: string }[];
      page2 = (await next()).accounts.map(({ id }) => id);
      return true;
    } catch {
      return false;
    }
  });
  expect(page2).toEqual([listed[1]?.id]);
}, 150_000);

test("keys and ids of databases that there are not name nobody", async () => {
  const key = newCheckedSecret("tg-", systemRandom, 61);
  const accountId = second().account.replace("-8001-", "-8fff-");
  expect([readKeyShard(key), readIdShard(accountId)]).toEqual([61, 0xfff]);
  expect(await statusOf({ ...second(), key })).toBe(401);
  await expect(accountsClient().getAccount({ accountId }, call())).rejects.toMatchObject({ code: Code.NotFound });
  const requestId = "req_0199c5a1bf6d8fff8000000000000000";
  await expect(admin("receipt", requestId)).rejects.toThrow("There is no receipt");
}, 60_000);

test("an account moves with its keys, and is served while the database that made it is away", async () => {
  const customer = await customerOn(2);
  const answer = await ask(customer);
  await answer.arrayBuffer();
  const requestId = String(answer.headers.get("x-request-id"));
  const moved = await admin("accounts", "move", customer.account, "--to", "1", "--pause", "60s");
  expect(moved).toMatchObject({ from_shard: 2, to_shard: 1, id: customer.account });
  const noted = { method: expect.stringMatching(/\/MoveAccount$/), target: customer.account };
  expect(await admin("audit", "list")).toContainEqual(expect.objectContaining(noted));
  expect(await statusOf(customer)).toBe(200);
  expect(await admin("receipt", requestId)).toMatchObject({ request_id: requestId, account_id: customer.account });
  const again = ["--usd", "10", "--ref", `payment-${customer.account}`];
  const { paid_total_usd: paid } = (await admin("accounts", "show", customer.account)) as { paid_total_usd: string };
  await admin("accounts", "top-up", customer.account, ...again);
  expect(await admin("accounts", "show", customer.account)).toMatchObject({ paid_total_usd: paid });
  const listed = (await admin("accounts", "list")) as { id: string }[];
  expect(listed.filter(({ id }) => id === customer.account)).toHaveLength(1);
  expect(await admin("reconcile")).toMatchObject({ ok: true, moved_usd: "0.00" });
  await expect(admin("accounts", "move", customer.account, "--to", "3")).rejects.toThrow("numbers 0 to 2");
  const unused = await customerOn(2);
  await door.shut();
  await eventually("others there are refused", async () => (await statusOf(unused)) === 503);
  await admin("keys", "create", customer.account);
  expect(await statusOf(customer)).toBe(200);
  await door.open();
  await eventually("others there are served again", async () => (await statusOf(unused)) === 200);
}, 150_000);

test("a start waits neither for the first database, which is away, nor for another one, which hangs", async () => {
  const model = "tollgate-sim/plain";
  const operator = (await admin("operators", "create", "--name", "named", "--role", "reader")) as { token: string };
  await admin("prices", "pin", model, "--input", "3", "--output", "5");
  const [{ id: server }] = (await admin("servers", "list")) as [{ id: string }];
  await admin("servers", "drain", server);
  await eventually("the other databases are told", async () => {
    const told = await onServer("select 1 from setting where name = $1", urls[1], [`drained ${server}`]);
    return told.length === 1;
  });
  await tollgate.stop();
  await firstDoor.shut();
  door.hang();
  tollgate = await startTollgate(site, "serve", "--config", config);

  expect([await statusOf(first()), await statusOf(second()), await statusOf(third())]).toEqual([503, 200, 503]);
  const made = await accountsClient().createAccount({ name: "placed meanwhile" }, call());
  expect(readIdShard(String(made.account?.id))).toBe(1);
  expect(await admin("prices", "list")).toContainEqual(
    expect.objectContaining({ model, input: "3.00", output: "5.00", pinned: true }),
  );
  expect(await admin("servers", "list")).toContainEqual(expect.objectContaining({ id: server, state: "draining" }));
  const money = { accountId: second().account, amountPicoUsd: 10n ** 13n, reference: "while the first is away" };
  const named = { headers: { authorization: `Bearer ${operator.token}` } };
  for (const refused of [
    () => accountsClient().getAccount({ accountId: third().account }, call()),
    () => accountsClient().getAccount({ accountId: first().account }, call()),
    () => accountsClient().listAccounts({}, call()),
    () => accountsClient().topUp(money, call()),
    () => accountsClient().createAccount({ name: "of a request", requestId: "another-request" }, call()),
    () => accountsClient().getAccount({ accountId: second().account }, named),
  ]) {
    await expect(refused()).rejects.toMatchObject({ code: Code.Unavailable });
  }

  await Promise.all([firstDoor.open(), door.open()]);
  await eventually("all accounts are served", async () => {
    return (await statusOf(first())) === 200 && (await statusOf(third())) === 200;
  });
  expect(await accountsClient().getAccount({ accountId: second().account }, named)).toBeDefined();
  await admin("servers", "resume", server);
  await admin("prices", "unpin", model);
  expect(await admin("reconcile")).toMatchObject({ ok: true });
}, 150_000);

test("a start with databases in another order is refused", async () => {
  const other = await createSite(site.env);
  const file = await configure([urls[2] ?? "", urls[1] ?? ""], "wrong.yaml");
  const wrong = { ...site, env: { ...site.env, TOLLGATE_DATA_DIR: other.folder } };
  await expect(startTollgate(wrong, "serve", "--config", file)).rejects.toThrow(
    "keep the order that storage.shards had",
  );
  await other.remove();
}, 60_000);
