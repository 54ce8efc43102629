import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Outcome, runHere } from "../../support/run-here.ts";
import { createSite, freePorts, runTollgate, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const uuid = /^[0-9a-f-]{36}$/;
const testModel = "tollgate-sim/plain";

let site: Site;
let service: Tollgate;
beforeAll(async () => {
  site = await createSite();
  const freeTier = { grant_usd: "0.5", rpm: 20 };
  service = await startTollgate(site, "serve", "--config", await site.configure({ ...freePorts, free_tier: freeTier }));
}, 60_000);
afterAll(async () => {
  expect(await service.stop()).toBe(0);
  await site.remove();
});

const here = (...args: string[]) => runHere([...args, "--core", service.addresses.grpc ?? ""], site.env);

/** The JSON of a command that must succeed. */
async function json(...args: string[]) {
  const { code, output, notes } = await here(...args, "--json");
  expect({ code, notes }).toEqual({ code: 0, notes: "" });
  return JSON.parse(output);
}

async function refusal(...args: string[]): Promise<Outcome> {
  const outcome = await here(...args, "--json");
  expect({ code: outcome.code, output: outcome.output }).toEqual({ code: 1, output: "" });
  return outcome;
}

async function newAccount(...options: string[]): Promise<string> {
  return (await json("accounts", "create", ...options)).id;
}

/** Asks for an answer and returns the status, the request's id and the body. */
async function chat(key: string, model = testModel) {
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], max_tokens: 5 }),
  });
  return {
    status: response.status,
    id: response.headers.get("x-request-id") ?? "",
    body: (await response.json()) as { usage: { prompt_tokens: number; completion_tokens: number } },
  };
}

test("an account is created with the free tier's grant, shown and listed", async () => {
  const id = await newAccount("--name", "Ada", "--max-keys", "2");
  const shown = await json("accounts", "show", id);
  expect(shown).toEqual({
    id,
    name: "Ada",
    created_at: expect.stringMatching(iso),
    balance_usd: "0.50",
    held_usd: "0.00",
    debt_usd: "0.00",
    paid_total_usd: "0.00",
    free_only: true,
    max_keys: 2,
    in_flight_limit: null,
    low_balance_usd: null,
    frozen: false,
    frozen_reason: null,
    frozen_at: null,
    lots: [
      {
        id: expect.stringMatching(uuid),
        kind: "free",
        granted_usd: "0.50",
        remaining_usd: "0.50",
        price_version: expect.any(String),
        created_at: expect.stringMatching(iso),
        expires_at: null,
      },
    ],
  });
  expect(await json("accounts", "list")).toContainEqual(shown);
  expect(await json("accounts", "update", id, "--name", "Ada L.", "--max-keys", "3")).toMatchObject({ max_keys: 3 });
  expect((await here("accounts", "show", id)).output).toContain("Ada L.");
});

test("money comes in once per reference, and unspent paid money goes back", async () => {
  const id = await newAccount();
  const paid = await json("accounts", "top-up", id, "--usd", "10.25", "--ref", "pay-1");
  expect(paid).toEqual({ id, lot_id: expect.stringMatching(uuid), balance_usd: "10.75" });
  expect(await json("accounts", "top-up", id, "--usd", "10.25", "--ref", "pay-1")).toEqual(paid);
  expect((await refusal("accounts", "top-up", id, "--usd", "10.26", "--ref", "pay-1")).notes).toMatch(/^tollgate: ./);
  expect((await refusal("accounts", "top-up", id, "--usd", "1", "--ref", "pay-2")).notes).toMatch(/minimum/);

  const gift = await json("accounts", "grant", id, "--usd", "1", "--ref", "gift", "--expires", "2099-01-01");
  expect(gift.balance_usd).toBe("11.75");
  const refunded = await json("accounts", "refund", id, "--usd", "0.25", "--ref", "back");
  expect(refunded).toEqual({ id, lot_id: paid.lot_id, balance_usd: "11.50" });
  await refusal("accounts", "refund", id, "--usd", "10.01", "--ref", "back-2");
  const payments = await json("payments", id);
  expect(payments).toMatchObject([
    { kind: "refund", usd: "-0.25", ref: "back", lot_id: paid.lot_id },
    { kind: "grant", usd: "1.00", ref: "gift", lot_id: gift.lot_id },
    { kind: "top_up", usd: "10.25", ref: "pay-1", lot_id: paid.lot_id },
    { kind: "grant", usd: "0.50" },
  ]);
  expect(payments[0]).toMatchObject({ id: expect.stringMatching(uuid), at: expect.stringMatching(iso) });

  const { lots, free_only, paid_total_usd } = await json("accounts", "show", id);
  expect({ free_only, paid_total_usd }).toEqual({ free_only: false, paid_total_usd: "10.00" });
  expect(lots.map((lot: { kind: string }) => lot.kind)).toEqual(["free", "grant", "paid"]);
  expect(lots[1].expires_at).toBe("2099-01-01T00:00:00.000Z");
});

test("spent lots are shown on request, oldest first", async () => {
  const id = await newAccount();
  const paid = await json("accounts", "top-up", id, "--usd", "5", "--ref", "soon-back");
  await json("accounts", "refund", id, "--usd", "5", "--ref", "all-back");
  const gift = await json("accounts", "grant", id, "--usd", "1", "--ref", "another-gift");
  const shown = await json("accounts", "show", id);
  expect(shown.lots).toMatchObject([{ kind: "free" }, { kind: "grant", id: gift.lot_id }]);
  const [free, granted] = shown.lots;
  const all = await json("accounts", "show", id, "--all-lots");
  expect({ ...all, lots: shown.lots }).toEqual(shown);
  expect(all.lots).toEqual([
    free,
    expect.objectContaining({ id: paid.lot_id, kind: "paid", granted_usd: "5.00", remaining_usd: "0.00" }),
    granted,
  ]);
});

test("keys are created, limited, rotated and revoked", async () => {
  const account = await newAccount("--max-keys", "1");
  const made = await json("keys", "create", account, "--name", "laptop", "--rpm", "7");
  expect(made).toEqual({ id: expect.stringMatching(uuid), key: expect.stringMatching(/^tg-[0-9A-Za-z]{49}$/) });
  expect((await refusal("keys", "create", account)).notes).toContain("at most 1");

  expect(await json("keys", "set-rpm", made.id, "9")).toMatchObject({ id: made.id, rpm: 9 });
  expect(await json("keys", "set-rpm", made.id, "none")).toMatchObject({ rpm: null });
  const next = await json("keys", "rotate", made.id, "--overlap", "1h");
  expect((await chat(made.key)).status).toBe(200);
  expect((await chat(next.key)).status).toBe(200);
  expect((await refusal("keys", "rotate", made.id)).notes).toContain("already been rotated");

  const last = await json("keys", "rotate", next.id, "--overlap", "0s");
  expect((await chat(next.key)).status).toBe(401);
  expect(await json("keys", "revoke", last.id)).toMatchObject({ id: last.id });
  expect((await chat(last.key)).status).toBe(401);

  const keys = await json("keys", "list", account);
  expect(keys.map((key: { id: string }) => key.id)).toEqual([made.id, next.id, last.id]);
  expect(keys[0]).toEqual({
    id: made.id,
    name: "laptop",
    prefix: made.key.slice(0, 7),
    last4: made.key.slice(-4),
    rpm: null,
    created_at: expect.stringMatching(iso),
    expires_at: expect.stringMatching(iso),
    revoked_at: null,
    last_used_at: null,
    limits: {
      ...{ usd: null, per: null, usd_spent: null, usd_left: null, resets_at: null },
      ...{ models: null, tpm: null, in_flight: null },
    },
  });
  expect(keys[2].revoked_at).toMatch(iso);
  const shown = await here("keys", "create", await newAccount());
  expect(shown.notes).toBe("The key is shown only now: it is not stored.");
});

test("an account is frozen and let go, and its places are limited", async () => {
  const id = await newAccount();
  const { key } = await json("keys", "create", id);
  expect(await json("accounts", "freeze", id, "--reason", "unpaid")).toMatchObject({ id, frozen: true });
  expect((await chat(key)).status).toBe(403);
  expect(await json("accounts", "show", id)).toMatchObject({ frozen: true, frozen_reason: "unpaid" });
  await json("accounts", "top-up", id, "--usd", "5", "--ref", "while-frozen");
  expect(await json("accounts", "unfreeze", id)).toMatchObject({ id, frozen: false, frozen_reason: null });
  expect((await chat(key)).status).toBe(200);

  await json("accounts", "set-limits", id, "--in-flight", "3", "--low-balance-usd", "2.5");
  expect(await json("accounts", "show", id)).toMatchObject({ in_flight_limit: 3, low_balance_usd: "2.50" });
  await json("accounts", "set-limits", id, "--in-flight", "none");
  expect(await json("accounts", "show", id)).toMatchObject({ in_flight_limit: null, low_balance_usd: "2.50" });
  expect((await refusal("accounts", "set-limits", id)).notes).toContain("no limit is named");
  expect((await refusal("accounts", "freeze", id)).notes).toContain("--reason");
});

test("limits of a key are set, listed and lifted one by one", async () => {
  const account = await newAccount();
  const all = ["--usd", "10", "--per", "month", "--models", testModel, "--expires", "30d", "--tpm", "1000"];
  const { id } = await json("keys", "create", account, ...all, "--in-flight", "3");
  const shown = async () => (await json("keys", "list", account))[0];
  const spending = { usd_spent: "0.00", usd_left: "10.00", resets_at: expect.stringMatching(/-01T00:00:00.000Z$/) };
  const limits = { usd: "10.00", per: "month", models: [testModel], tpm: 1000, in_flight: 3 };
  expect(await shown()).toMatchObject({ limits: { ...limits, ...spending }, expires_at: expect.stringMatching(iso) });
  expect((await here("keys", "list", account)).output).toContain("usd=10.00 per=month");

  expect(await json("keys", "set-limits", id, "--usd", "0.5", "--expires", "none")).toMatchObject({ id });
  expect(await shown()).toMatchObject({ limits: { ...limits, usd: "0.50" }, expires_at: null });
  await json("keys", "set-limits", id, "--usd", "0", "--models", "", "--tpm", "none", "--in-flight", "0");
  const none = { usd: null, per: null, models: null, tpm: null, in_flight: null };
  expect(await shown()).toMatchObject({ limits: none });
  await json("keys", "set-limits", id, "--usd", "2");
  expect(await shown()).toMatchObject({ limits: { ...none, usd: "2.00", per: "total" } });

  expect((await refusal("keys", "set-limits", id)).notes).toContain("no limit is named");
  expect((await refusal("keys", "set-limits", id, "--models", "tollgate-sim/plian")).notes).toContain(testModel);
  expect((await refusal("keys", "set-limits", id, "--expires", "2020-01-01")).notes).toContain("in the future");
  for (const wrong of [
    ["--usd", "-1"],
    ["--per", "year"],
    ["--tpm", "many"],
    ["--expires", "soon"],
  ]) {
    expect((await refusal("keys", "set-limits", id, ...wrong)).notes).toContain(wrong[0]);
  }
});

test("a request has a receipt whose lines add up, and shows in the usage", async () => {
  const account = await newAccount();
  const key = await json("keys", "create", account);
  const { id, status, body } = await chat(key.key);
  expect(status).toBe(200);
  const receipt = await json("receipt", id);
  const tokens = { input_tokens: body.usage.prompt_tokens, output_tokens: body.usage.completion_tokens };
  expect(receipt).toMatchObject({ request_id: id, account_id: account, key_id: key.id, model: testModel, ...tokens });
  expect(receipt).toMatchObject({ status: "completed", shortfall_usd: "0.00", settled_at: expect.stringMatching(iso) });
  expect(receipt.lines).toEqual([
    {
      lot_id: expect.stringMatching(uuid),
      ...tokens,
      shared_token_usd: "0.00",
      input_usd_per_million: "0.20",
      output_usd_per_million: "0.25",
      cost_usd: receipt.cost_usd,
    },
  ]);
  const cost = tokens.input_tokens * 200_000 + tokens.output_tokens * 250_000;
  expect(Number(receipt.cost_usd)).toBeCloseTo(cost / 1e12, 12);

  const sums = { requests: 1, ...tokens, cost_usd: receipt.cost_usd };
  expect(await json("usage", "--account", account)).toEqual([
    { account_id: account, key_id: key.id, model: testModel, ...sums },
  ]);
  expect(await json("receipts", account)).toEqual([receipt]);
  expect(await json("receipts", "--request", id, "--key", key.id, "--model", testModel)).toEqual([receipt]);
  expect(await json("receipts", account, "--to", "2020-01-01")).toEqual([]);
  const hour = `${receipt.settled_at.slice(0, 13)}:00:00Z`;
  expect(await json("usage", "--account", account, "--by", "hour")).toMatchObject([{ hour, ...sums }]);
  const day = receipt.settled_at.slice(0, 10);
  expect(await json("usage", "--account", account, "--by", "day", "--from", day)).toEqual([
    { account_id: account, day, ...sums },
  ]);
  expect(await json("usage", "--account", account, "--to", "2020-01-01")).toEqual([]);
  expect((await refusal("receipt", "req_unknown")).notes).toContain("no receipt");
});

test("the books add up", async () => {
  const proof = await json("reconcile");
  expect(proof).toMatchObject({ ok: true, findings: [], debt_usd: "0.00", granted_usd: expect.any(String) });
  expect(proof.accounts).toBeGreaterThan(0);
});

test("prices are listed, set, pinned and let go, and their history is kept", async () => {
  const before = (await json("prices", "list")).find((price: { model: string }) => price.model === testModel);
  expect(before).toEqual({
    model: testModel,
    input: "0.20",
    output: "0.25",
    base_input: "0.20",
    base_output: "0.25",
    pinned: false,
    version: expect.any(String),
    since: expect.stringMatching(iso),
  });
  expect(await json("prices", "set", testModel, "--input", "0.3", "--output", "0.4")).toMatchObject({
    input: "0.30",
    output: "0.40",
  });
  expect(await json("prices", "set", testModel, "--input", "0.35")).toMatchObject({
    input: "0.35",
    base_output: "0.40",
  });
  expect(await json("prices", "pin", testModel, "--output", "0.5")).toMatchObject({
    input: "0.35",
    output: "0.50",
    pinned: true,
  });
  expect(await json("prices", "unpin", testModel)).toMatchObject({ pinned: false });
  const history = await json("prices", "history", testModel);
  expect(history.map((price: { input: string }) => price.input).at(-1)).toBe("0.20");
  expect(history.length).toBeGreaterThanOrEqual(4);
  expect(await json("prices", "history", testModel, "--limit", "2")).toEqual(history.slice(0, 2));
  await refusal("prices", "set", "no-such-model", "--input", "1");
});

test("servers are listed, drained and resumed", async () => {
  const servers = await json("servers", "list");
  const server = servers.find((one: { model: string }) => one.model === testModel);
  expect(server).toMatchObject({
    url: expect.stringMatching(/^http:/),
    engine: "simulator",
    state: "healthy",
    breaker: "closed",
  });
  expect(server).toMatchObject({ in_flight: 0, capacity: 256 });
  expect(await json("servers", "drain", server.id)).toMatchObject({ id: server.id, state: "draining" });
  expect(await json("servers", "resume", server.id)).toMatchObject({ id: server.id, state: "healthy" });
  await refusal("servers", "drain", "nowhere");
});

test("receipts and usage are exported, an export that was cut off goes on, and what models earned is shown", async () => {
  const id = await newAccount();
  const { key } = await json("keys", "create", id);
  for (let count = 0; count < 4; count++) {
    expect((await chat(key)).status).toBe(200);
  }
  const receipts = await json("receipts", id);
  expect(receipts).toHaveLength(4);
  const file = join(site.folder, "receipts.jsonl");
  expect(await json("export", "receipts", file, "--account", id)).toEqual({ file, receipts: 4 });
  const text = await readFile(file, "utf8");
  const lines = text.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(receipts);
  expect((await refusal("export", "receipts", file, "--account", id)).notes).toMatch(/--resume/);
  await writeFile(file, text.slice(0, text.indexOf("\n") * 2));
  expect(await json("export", "receipts", file, "--account", id, "--resume")).toEqual({ file, receipts: 3 });
  expect(await readFile(file, "utf8")).toBe(text);
  expect(await json("export", "receipts", file, "--account", id, "--resume")).toEqual({ file, receipts: 0 });

  const margins = await json("margin");
  expect(margins).toContainEqual({
    ...{ model: testModel, revenue_usd: expect.stringMatching(/^0\.0+[1-9]/), cost_usd: null, margin_usd: null },
  });

  const table = join(site.folder, "usage.csv");
  const asked = ["--account", id, "--by", "model"];
  expect(await json("export", "usage", table, "--format", "csv", ...asked)).toEqual({ file: table, rows: 1 });
  const [row] = await json("usage", ...asked);
  expect(await readFile(table, "utf8")).toBe(`${Object.keys(row).join(",")}\n${Object.values(row).join(",")}\n`);
}, 60_000);

test("unknown ids and a wrong token are told apart", async () => {
  expect((await refusal("accounts", "show", "nobody")).notes).toBe("tollgate: There is no such account.");
  expect((await refusal("keys", "revoke", "none")).notes).toBe("tollgate: There is no such key.");
  const stranger = await runHere(["accounts", "list", "--core", service.addresses.grpc ?? ""], {
    TOLLGATE_OPERATOR_TOKEN: "x",
  });
  expect(stranger.code).toBe(1);
  expect(stranger.notes).toContain("refuses the operator token");
});

test("the program itself prints one JSON document, or the reason on standard error", async () => {
  const { stdout, stderr } = await runTollgate(
    site,
    "accounts",
    "list",
    "--core",
    service.addresses.grpc ?? "",
    "--json",
  );
  expect(JSON.parse(stdout).length).toBeGreaterThan(0);
  expect(stderr).toBe("");
  await expect(
    runTollgate(site, "accounts", "show", "nobody", "--core", service.addresses.grpc ?? ""),
  ).rejects.toMatchObject({ code: 1, stdout: "", stderr: "tollgate: There is no such account.\n" });
});
