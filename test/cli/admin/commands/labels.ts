import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "@jest/globals";
import { chat, here, json, newAccount, site, testModel } from "../administered.ts";

/** Usage by label, and the files that have labels. */
export function testLabels(): void {
  let account: string;
  let keyId: string;
  let cost: string;
  beforeAll(async () => {
    account = await newAccount();
    const { id, key } = await json("keys", "create", account);
    keyId = id;
    const asked = [
      { user: "ann", title: "Cline" },
      { user: 'bob, "the" builder', title: "Cline" },
      { title: "Cline" },
      {},
      { user: "ann", title: "Cline" },
    ];
    for (const labels of asked) {
      cost = (await json("receipt", (await chat(key, testModel, labels)).id)).cost_usd;
    }
  }, 60_000);

  const times = (count: number) => (Number(cost) * count).toFixed(12).replace(/0+$/, "");

  test("usage is summed by a label, and only of one value", async () => {
    const sums = await json("usage", "--account", account, "--by", "label:app,model");
    expect(sums).toEqual([
      expect.objectContaining({ label_app: "", model: testModel, requests: 1, cost_usd: times(1) }),
      expect.objectContaining({ label_app: "Cline", model: testModel, requests: 4, cost_usd: times(4) }),
    ]);
    const [ann] = await json("usage", "--account", account, "--by", "key", "--label", "user=ann");
    expect(ann).toMatchObject({ label_user: "ann", key_id: keyId, requests: 2 });
    const [nobody] = await json("usage", "--account", account, "--by", "model", "--label", "user=");
    expect(nobody).toMatchObject({ label_user: "", requests: 2 });
    const weeks = await json("usage", "--account", account, "--by", "week,label:user");
    expect(weeks.map((row: { label_user: string; requests: number }) => [row.label_user, row.requests])).toEqual([
      ["", 2],
      ["ann", 2],
      ['bob, "the" builder', 1],
    ]);
  });

  test.each([
    [["--by", "label:app,label:user"], "one label"],
    [["--by", "label:"], "one label"],
    [["--by", "label"], "label:NAME"],
    [["--label", "app"], "app=Cline"],
    [["--by", "label:app", "--label", "user=ann"], "same one"],
  ])("%j is refused", async (options, reason) => {
    const { code, notes } = await here("usage", ...options);
    expect({ code, notes }).toEqual({ code: 1, notes: expect.stringContaining(reason) });
  });

  test("receipts and usage are exported with labels", async () => {
    const receipts = join(site.folder, "labelled.csv");
    await json("export", "receipts", receipts, "--account", account, "--format", "csv");
    const [header = "", newest = ""] = (await readFile(receipts, "utf8")).split("\n");
    expect(header).toContain(",labels,");
    expect(newest).toContain('"{""user"":""ann"",""app"":""Cline""}"');
    const again = ["--account", account, "--format", "csv", "--resume"];
    expect(await json("export", "receipts", receipts, ...again)).toMatchObject({ rows: 0 });
    const usage = join(site.folder, "by-app.csv");
    await json("export", "usage", usage, "--account", account, "--format", "csv", "--by", "label:app");
    expect((await readFile(usage, "utf8")).split("\n")[0]).toBe(
      "label_app,account_id,requests,input_tokens,output_tokens,cost_usd",
    );
  });

  test("a FOCUS file has a row for each day and set of labels, whose costs are those of the receipts", async () => {
    const file = join(site.folder, "focus.csv");
    const asked = ["--account", account, "--format", "focus", "--provider", "Example Tokens"];
    expect(await json("export", "usage", file, ...asked)).toEqual({ file, rows: 4 });
    const [header = "", ...lines] = (await readFile(file, "utf8")).trimEnd().split("\n");
    const rows = lines.map((line) => {
      const fields = [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/g)];
      const values = fields.map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "");
      return Object.fromEntries(header.split(",").map((name, at) => [name, values[at]]));
    });
    const day = new Date().toISOString().slice(0, 10);
    expect(rows[0]).toMatchObject({
      ...{ BilledCost: times(2), EffectiveCost: times(2), BillingCurrency: "USD", BillingAccountId: account },
      ...{ BillingAccountName: "", ChargeCategory: "Usage", ChargeClass: "", ChargeFrequency: "Usage-Based" },
      ...{ ConsumedUnit: "Tokens", ProviderName: "Example Tokens", InvoiceIssuerName: "Example Tokens" },
      ...{ ServiceCategory: "AI and Machine Learning", SkuId: testModel, SubAccountId: keyId, x_Requests: "2" },
      BillingPeriodStart: `${day.slice(0, 8)}01T00:00:00Z`,
    });
    expect(rows[0]?.ChargePeriodStart).toMatch(/^\d{4}-\d\d-\d\dT00:00:00Z$/);
    for (const row of rows) {
      expect(Number(row.ConsumedQuantity)).toBe(Number(row.x_InputTokens) + Number(row.x_OutputTokens));
    }
    expect(rows.map(({ Tags }) => Tags)).toEqual([
      '{"app":"Cline","user":"ann"}',
      "",
      '{"app":"Cline"}',
      '{"app":"Cline","user":"bob, \\"the\\" builder"}',
    ]);
    const { code, notes } = await here("export", "usage", file, "--format", "focus", "--by", "day");
    expect({ code, notes }).toEqual({ code: 1, notes: expect.stringContaining("not for focus") });
  });
}
