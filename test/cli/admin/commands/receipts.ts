import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { chat, iso, json, newAccount, refusal, site, testModel, uuid } from "../administered.ts";

/** The commands of receipts. */
export function testReceipts(): void {
  test("a request has a receipt whose lines add up, and shows in the usage", async () => {
    const account = await newAccount();
    const key = await json("keys", "create", account);
    const { id, status, body } = await chat(key.key);
    expect(status).toBe(200);
    const receipt = await json("receipt", id);
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
}
