import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { encode } from "#src/money/journal/journal-record.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { scrape } from "../telemetry/scrape.ts";

// A whole service whose journal has requests that cannot be charged, and what its operator does about them.

const model = "tollgate-sim/plain";
const sites: Site[] = [];
const running: Tollgate[] = [];
afterAll(async () => {
  await Promise.all(running.map((tollgate) => tollgate.stop()));
  await Promise.all(sites.map((site) => site.remove()));
});

test("what cannot be charged is listed, settled or dropped, and the service runs all the while", async () => {
  const site = await createSite();
  sites.push(site);
  const config = await site.configure(freePorts);
  const before = await startTollgate(site, "serve", "--config", config);
  const { id: account } = (await before.admin("accounts", "create")) as { id: string };
  await before.admin("accounts", "top-up", account, "--usd", "10", "--ref", "payment-1");
  await before.stop("SIGKILL");

  const note = (accountId: string, outputTokens: number) => ({
    ...{ requestId: `request-${outputTokens}`, runId: v7(), accountId, keyId: "", model },
    tokens: { inputTokens: 10, outputTokens },
  });
  const [good, stray, huge] = [note(account, 20), note(v7(), 30), note(account, 1e300)];
  const records = [good, stray, huge].map((each) => ({ note: each }));
  await appendFile(join(site.folder, "data/cores/1/journal"), encode(records));

  const service = await startTollgate(site, "serve", "--config", config);
  running.push(service);
  expect(await service.admin("receipt", good.requestId)).toMatchObject({ output_tokens: 20, status: "recovered" });
  const listed = (await service.admin("charges", "list")) as { id: string; request_id: string }[];
  expect(listed).toHaveLength(2);
  expect(listed.find(({ id }) => id === stray.runId)).toEqual({
    id: stray.runId,
    request_id: stray.requestId,
    account_id: stray.accountId,
    key_id: null,
    model,
    input_tokens: 10,
    output_tokens: 30,
    status: "recovered",
    reason: expect.stringContaining("There is no account"),
    core_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    at: expect.stringMatching(/Z$/),
  });
  const counted = async () => (await scrape(service)).samples.get("tollgate_dead_letters");
  await eventually("both are on the metrics", async () => (await counted()) === 2);

  const refused = (...args: string[]) => expect(service.admin("charges", ...args)).rejects;
  await refused("settle", stray.runId).toThrow("no account");
  await refused("settle", huge.runId).toThrow("1e+300");
  await refused("drop", v7()).toThrow("no dead letter");
  expect(await service.admin("charges", "settle", huge.runId, "--output-tokens", "5000")).toEqual({
    ...{ id: huge.runId, request_id: huge.requestId, account_id: account },
  });
  const receipt = await service.admin("receipt", huge.requestId);
  expect(receipt).toMatchObject({ input_tokens: 10, output_tokens: 5000, shortfall_usd: "0.00" });
  expect(await service.admin("charges", "drop", stray.runId)).toMatchObject({ id: stray.runId });
  expect(await service.admin("charges", "list")).toEqual([]);
  expect(await service.admin("reconcile")).toMatchObject({ ok: true });
}, 120_000);
