import { copyFile, cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { backup, DatabaseSync, type SQLInputValue } from "node:sqlite";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import OpenAI from "openai";
import { type DatabaseServer, useServer } from "../../scripts/test-services/postgres-server.ts";
import { startInstallation } from "../storage/postgresql-programs.ts";
import { eventually } from "../support/eventually.ts";
import { runHere } from "../support/run-here.ts";
import { createSite, freePorts, logs, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { scrape } from "../telemetry/scrape.ts";

// What an operator does when things go wrong or grow: restore a backup, move to PostgreSQL, rotate the pepper.

const model = "tollgate-sim/plain";
const firstPepper = "first-pepper-of-the-test-0123456789";
const secondPepper = "second-pepper-of-the-test-0123456789";
const secrets = {
  TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-test-0123456789",
  TOLLGATE_KEY_PEPPER: `1:${firstPepper}`,
};
const sites: Site[] = [];
const running: Tollgate[] = [];
let postgres: DatabaseServer;

beforeAll(async () => {
  postgres = await useServer();
}, 60_000);
afterEach(async () => {
  await Promise.all(running.splice(0).map((tollgate) => tollgate.stop()));
});
afterAll(async () => {
  await Promise.all(sites.map((site) => site.remove()));
  await postgres.stop();
});

async function newSite(env: NodeJS.ProcessEnv = {}): Promise<Site> {
  const site = await createSite({ ...secrets, ...env });
  sites.push(site);
  return site;
}

async function start(site: Site): Promise<Tollgate> {
  const tollgate = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  running.push(tollgate);
  return tollgate;
}

/** An account with money, a key and a request that was paid for. */
async function populate(tollgate: Tollgate) {
  const { id } = (await tollgate.admin("accounts", "create", "--name", "customer")) as { id: string };
  await tollgate.admin("accounts", "top-up", id, "--usd", "10", "--ref", "payment-1");
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  const requestId = await ask(tollgate, key);
  const stored = () => tollgate.admin("receipt", requestId).then(Boolean, () => false);
  await eventually("its charge is stored", stored); // until then the journal alone has it
  return { id, key, requestId };
}

let populated: Promise<{ folder: string; customer: Awaited<ReturnType<typeof populate>>; idle: string }> | undefined;

/** A site of its own with the data of a service that was populated once, has a key that nobody used, and was stopped in order. */
async function stoppedService() {
  populated ??= (async () => {
    const site = await newSite();
    const tollgate = await start(site);
    const customer = await populate(tollgate);
    const { key: idle } = (await tollgate.admin("keys", "create", customer.id)) as { key: string };
    await tollgate.stop();
    return { folder: site.folder, customer, idle };
  })();
  const { folder, ...made } = await populated;
  const site = await newSite();
  await cp(join(folder, "data"), join(site.folder, "data"), { recursive: true });
  return { site, ...made };
}

async function ask(tollgate: Tollgate, key: string): Promise<string> {
  const openai = new OpenAI({ baseURL: `${tollgate.url}/v1`, apiKey: key, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Hi" }];
  const { response } = await openai.chat.completions.create({ model, messages, max_tokens: 5 }).withResponse();
  return String(response.headers.get("x-request-id"));
}

/** The account without its last use, which a core stores once a minute and when it ends. */
const state = async (tollgate: Tollgate, { id, requestId }: { id: string; requestId: string }) => ({
  account: { ...((await tollgate.admin("accounts", "show", id)) as object), last_used_at: null },
  receipt: await tollgate.admin("receipt", requestId),
  books: await tollgate.admin("reconcile"),
});

test("migrate-storage takes accounts, keys, lots and receipts from SQLite to PostgreSQL", async () => {
  const before = await newSite();
  const file = join(before.folder, "data/tollgate.db");
  const first = await start(before);
  const customer = await populate(first);
  const to = await postgres.createDatabase();
  const migrate = () => runHere(["migrate-storage", "--from", `sqlite:${file}`, "--to", to, "--json"], before.env);
  expect(await migrate()).toMatchObject({ code: 1, notes: expect.stringContaining("in use by another") });
  const expected = await state(first, customer);
  expect(await first.stop()).toBe(0);

  const { output } = await migrate();
  expect(JSON.parse(output)).toMatchObject({
    ok: true,
    tables: expect.arrayContaining([{ table: "account", rows: 2 }]),
  });
  expect(await migrate()).toMatchObject({ code: 1, notes: expect.stringContaining("the target is in use") });

  const second = await start(await newSite({ TOLLGATE_STORAGE_URL: to }));
  const { account, receipt, books } = await state(second, customer);
  expect({ account, receipt }).toEqual({ account: expected.account, receipt: expected.receipt });
  expect(books).toMatchObject({ ok: true, receipts: (expected.books as { receipts: number }).receipts });
  expect(await ask(second, customer.key)).toMatch(/^req_/);
}, 120_000);

test("a backup of SQLite that was made while requests ran is a whole service again; migrate-storage refuses what was killed", async () => {
  const site = await newSite();
  const tollgate = await start(site);
  const customer = await populate(tollgate);
  const saved = join(site.folder, "backup.db");
  const source = new DatabaseSync(join(site.folder, "data/tollgate.db"), { readOnly: true });
  await backup(source, saved);
  source.close();
  await ask(tollgate, customer.key); // lost with the machine
  await tollgate.stop("SIGKILL");

  const restored = await newSite();
  await mkdir(join(restored.folder, "data"));
  await copyFile(saved, join(restored.folder, "data/tollgate.db"));
  const again = await start(restored);
  const { account, books } = await state(again, customer);
  expect(books).toMatchObject({ ok: true });
  expect(account).toMatchObject({ id: customer.id, name: "customer", paid_total_usd: "10.00" });
  expect(await ask(again, customer.key)).toMatch(/^req_/);

  const to = await postgres.createDatabase();
  const migrate = (file: string) => runHere(["migrate-storage", "--from", `sqlite:${file}`, "--to", to], site.env);
  expect(await migrate(join(site.folder, "data/tollgate.db"))).toMatchObject({
    ...{ code: 1, notes: expect.stringContaining("not stopped in order") },
  });
  expect(await migrate("nowhere.db")).toMatchObject({ code: 1, notes: expect.stringContaining("no file nowhere.db") });
}, 120_000);

test("a dump of PostgreSQL that was made while requests ran is a whole service again, with the old journal", async () => {
  await using installation = await startInstallation();
  const site = await newSite({ TOLLGATE_STORAGE_URL: await installation.createDatabase("live") });
  const tollgate = await start(site);
  const customer = await populate(tollgate);
  const dump = join(site.folder, "tollgate.dump");
  const [, ...asked] = await Promise.all([
    installation.run("pg_dump", "--format=custom", `--file=${dump}`, String(site.env.TOLLGATE_STORAGE_URL)),
    ...[1, 2, 3].map(() => ask(tollgate, customer.key)),
  ]);
  expect(asked).toHaveLength(3);
  const later = await ask(tollgate, customer.key);
  await tollgate.stop("SIGKILL");

  const empty = await installation.createDatabase("restored");
  await installation.run("pg_restore", "--exit-on-error", "--no-owner", `--dbname=${empty}`, dump);
  site.env.TOLLGATE_STORAGE_URL = empty; // and the data directory as the dead process left it
  const again = await start(site);
  const { account, receipt, books } = await state(again, customer);
  expect(books).toMatchObject({ ok: true });
  expect(account).toMatchObject({ id: customer.id, name: "customer", paid_total_usd: "10.00" });
  expect(receipt).toMatchObject({ request_id: customer.requestId, status: "completed" });
  // What came after the dump is lost, unless the journal still had it as running when the process died.
  const found = await again.admin("receipt", later).catch(() => undefined);
  expect([undefined, "recovered"]).toContain((found as { status: string } | undefined)?.status);
  expect(await ask(again, customer.key)).toMatch(/^req_/);
  await again.admin("accounts", "top-up", customer.id, "--usd", "10", "--ref", "payment-1"); // was in the dump
  expect(await again.admin("accounts", "show", customer.id)).toMatchObject({ paid_total_usd: "10.00" });
  expect(await again.admin("reconcile")).toMatchObject({ ok: true });
}, 120_000);

test("a row that was changed by hand is found, seen on the metrics, and put right from the rows below it", async () => {
  const { site, customer } = await stoppedService();
  const file = join(site.folder, "data/tollgate.db");
  const edit = (sql: string, ...values: SQLInputValue[]) => {
    const database = new DatabaseSync(file);
    expect(database.prepare(sql).run(...values).changes).toBe(1);
    database.close();
  };
  edit("update lot set spent = spent - 1000 where account_id = ? and spent > 0", customer.id);

  const wrong = await start(site);
  const refusal = await runHere(["reconcile", "--json", "--core", String(wrong.addresses.grpc)], site.env);
  expect(refusal).toMatchObject({ code: 1, notes: expect.stringContaining("the books do not add up") });
  const { findings } = JSON.parse(refusal.output) as { findings: { rule: string; row: string; message: string }[] };
  expect(findings).toMatchObject([
    { rule: expect.stringContaining("top-ups + grants = balance"), row: `account ${customer.id}` },
    { rule: expect.stringContaining("a lot's spending"), row: expect.stringMatching(/^lot /) },
  ]);
  expect((await scrape(wrong)).samples.get("tollgate_ledger_invariant_ok")).toBe(0);
  expect(await ask(wrong, customer.key)).toMatch(/^req_/); // moves the sums, though not what they are off by
  for (const { id } of (await wrong.admin("keys", "list", customer.id)) as { id: string }[]) {
    await wrong.admin("keys", "revoke", id);
  }
  await expect(ask(wrong, customer.key)).rejects.toMatchObject({ status: 401 });
  await wrong.stop();

  const [, expected = "", found = ""] = /^expected (\d+), found (\d+)$/.exec(findings[1]?.message ?? "") ?? [];
  edit(
    "update lot set spent = spent + ? where id = ?",
    Number(expected) - Number(found),
    String(findings[1]?.row.slice(4)),
  );
  const right = await start(site);
  expect(await right.admin("reconcile")).toMatchObject({ ok: true, findings: [] });
  expect((await scrape(right)).samples.get("tollgate_ledger_invariant_ok")).toBe(1);
}, 120_000);

test("another pepper: keys that are used meanwhile go over to it, idle ones are told of and refused in the end", async () => {
  const { site, customer: old, idle } = await stoppedService();
  const startWith = async (pepper: string) => {
    site.env.TOLLGATE_KEY_PEPPER = pepper;
    return start(site);
  };
  const both = await startWith(`2:${secondPepper},1:${firstPepper}`);
  const { key: fresh } = (await both.admin("keys", "create", old.id)) as { key: string };
  for (const key of [old.key, fresh]) {
    expect(await ask(both, key)).toMatch(/^req_/);
  }
  // With the key of the demo account.
  await logs(both, { msg: "keys have not been used since the pepper changed", pepper: 1, keys: 3 });
  await both.stop();
  const changed = await startWith(`2:${secondPepper}`);
  for (const key of [old.key, fresh]) {
    expect(await ask(changed, key)).toMatch(/^req_/);
  }
  await expect(ask(changed, idle)).rejects.toMatchObject({ status: 401 });
  await logs(changed, { msg: "keys are refused: their pepper is gone", pepper: 1, keys: 2 });
}, 120_000);
