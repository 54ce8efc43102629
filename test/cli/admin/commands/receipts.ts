import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Interceptor } from "@connectrpc/connect";
import { expect, jest, test } from "@jest/globals";
import type { StreamUsageResponse } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { exportUsage } from "#src/cli/admin/money/export/usage.ts";
import { readOperatorToken } from "#src/config/secrets/secrets.ts";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import { runHere } from "../../../support/run-here.ts";
import { chat, iso, json, newAccount, refusal, service, site, testModel, uuid } from "../administered.ts";

/** The commands of receipts. */
export function testReceipts(): void {
  test("a request has a receipt whose lines add up, and shows in the usage", async () => {
    const account = await newAccount();
    const key = await json("keys", "create", account);
    const { id, status, body } = await chat(key.key);
    expect(status).toBe(200);
    const { hold, ...receipt } = await json("receipt", id);
    const tokens = { input_tokens: body.usage.prompt_tokens, output_tokens: body.usage.completion_tokens };
    expect(receipt).toMatchObject({ request_id: id, account_id: account, key_id: key.id, model: testModel, ...tokens });
    expect(receipt).toMatchObject({
      status: "completed",
      shortfall_usd: "0.00",
      settled_at: expect.stringMatching(iso),
    });
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
    expect(hold).toMatchObject({ input_usd_per_million: "0.20", output_usd_per_million: "0.25" });
    expect(Number(hold.held_usd)).toBeCloseTo((hold.input_tokens * 200_000 + hold.output_tokens * 250_000) / 1e12, 12);
    expect(Number(hold.shrunk_usd)).toBeCloseTo(
      (tokens.input_tokens * 200_000 + hold.output_tokens * 250_000) / 1e12,
      12,
    );

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
    expect((await refusal("receipt", "req_unknown")).notes).toMatch(
      /no receipt.* tollgate requests --request req_unknown$/,
    );
  });

  test("the books add up", async () => {
    const proof = await json("reconcile");
    expect(proof).toMatchObject({ ok: true, findings: [], debt_usd: "0.00", granted_usd: expect.any(String) });
    expect(proof.accounts).toBeGreaterThan(0);
    const [addend] = await json("reconcile", "--addends", "granted");
    expect(addend).toEqual({
      account_id: expect.stringMatching(uuid),
      name: expect.any(String),
      usd: expect.any(String),
    });
    expect(await json("reconcile", "--addends", "debt")).toEqual([]);
    expect((await refusal("reconcile", "--addends", "spent")).notes).toContain("granted, refunded, expired, debt");
  });

  test("a statement of days that are over is written to a new file, which is proved without the service", async () => {
    const account = await newAccount("--name", "Statement & Co");
    const file = join(site.folder, "statement.jsonl");
    const day = (at: number) => new Date(at).toISOString().slice(0, 10);
    const [from, to] = [day(Date.now() - 172_800_000), day(Date.now())] as const;
    expect(await json("statement", "Statement & Co", "--from", from, "--out", file)).toEqual({ file, lines: 3 });
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      { kind: "account", account_id: account, from, to },
      { kind: "opening", balance: "0.00", lot_count: 0, lots: [] },
      { kind: "closing", at: `${to}T00:00:00.000Z`, balance: "0.00", lots: [] },
    ]);
    expect(await runHere(["verify", file], {})).toMatchObject({ code: 0, notes: "" });
    expect((await refusal("statement", account, "--from", from, "--out", file)).notes).toContain("EEXIST");
    const month = new Date().toISOString().slice(0, 7);
    expect(await json("statement", account, "--month", month)).toMatchObject({
      ...{ month, account_id: account, account_name: "Statement & Co", grants_usd: "0.50", closing_usd: "0.50" },
      owed_usd: "0.00",
      models: [],
    });
    const page = join(site.folder, "month.html");
    expect(await json("statement", account, "--month", month, "--format", "html", "--out", page)).toEqual({
      file: page,
    });
    expect(await readFile(page, "utf8")).toContain("Statement &amp; Co");
    expect((await refusal("statement", account)).notes).toContain("name a month");
    const other = join(site.folder, "none.jsonl");
    expect((await refusal("statement", account, "--from", to, "--out", other)).notes).toContain(
      "begins before it ends",
    );
    await expect(readFile(other)).rejects.toMatchObject({ code: "ENOENT" });
    await writeFile(file, `${lines.slice(0, 2).join("\n")}\n{"kind":"closing","balance":"0.01"}\n`);
    const changed = await runHere(["verify", file], {});
    expect(changed).toMatchObject({ code: 1, notes: "line 3: balance is 0.01, and is made 0.00" });
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
    expect(await json("export", "receipts", file, "--account", id)).toEqual({ file, rows: 4 });
    const text = await readFile(file, "utf8");
    const lines = text.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      receipts.map((receipt: object) => ({ ...receipt, archived: false })),
    );
    expect((await refusal("export", "receipts", file, "--account", id)).notes).toMatch(/--resume/);
    await writeFile(file, `${lines[0]}\n${lines[1]?.slice(0, -9)}`);
    expect(await json("export", "receipts", file, "--account", id, "--resume")).toEqual({ file, rows: 3 });
    expect(await readFile(file, "utf8")).toBe(text);
    expect(await json("export", "receipts", file, "--account", id, "--resume")).toEqual({ file, rows: 0 });

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

  test("an export of usage tells how much of it is done, by the requests in the rows so far", async () => {
    const account = await newAccount();
    for (const asked of [1, 3]) {
      const { key } = await json("keys", "create", account);
      for (let count = 0; count < asked; count++) {
        expect((await chat(key)).status).toBe(200);
      }
    }
    const notes: string[] = [];
    const core = await reachSlowly();
    try {
      const file = join(site.folder, "told.jsonl");
      const options = { account, by: ["key"], format: "jsonl" } as const;
      expect(await exportUsage(core, file, options, { progress: (text) => void notes.push(text) })).toBe(2);
      expect((await readFile(file, "utf8")).trimEnd().split("\n")).toHaveLength(2);
    } finally {
      jest.useRealTimers();
      core.close();
    }
    const share = "(25 %, 1|75 %, 3) of 4 requests, about \\d+ s left";
    expect(notes.filter((note) => note !== "usage: counting requests")).toEqual([
      expect.stringMatching(new RegExp(`^usage: ${share}$`)),
      expect.stringMatching(/^usage: 100 %, 4 of 4 requests/),
    ]);
  }, 60_000);
}

/** The running core as if it took two seconds for each row: the clock of intervals is set forward. */
async function reachSlowly() {
  const token = await readOperatorToken(site.env);
  jest.useFakeTimers({
    doNotFake: [
      ...(["Date", "hrtime", "nextTick", "performance", "queueMicrotask"] as const),
      ...(["setImmediate", "clearImmediate", "setTimeout", "clearTimeout"] as const),
    ],
  });
  async function* slowly(pieces: AsyncIterable<StreamUsageResponse>) {
    for await (const piece of pieces) {
      for (const row of piece.rows) {
        yield { ...piece, rows: [row] };
        jest.advanceTimersByTime(2000);
      }
    }
  }
  const interceptor: Interceptor = (next) => async (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    const response = await next(request);
    return response.stream
      ? { ...response, message: slowly(response.message as AsyncIterable<StreamUsageResponse>) }
      : response;
  };
  return createChannelTransport({ target: service.addresses.grpc ?? "", interceptors: [interceptor] });
}
