import type { Page } from "playwright-core";
import { enterArchivedDay } from "../../support/archived-receipt.ts";
import { readAmount, type Stage } from "../stage/stage.ts";

interface Life {
  /** What its own receipt cost. */
  readonly own: bigint;
  /** What it sees of another account's receipt. */
  readonly other: string;
  /** What it sees of a receipt that has left the books. */
  readonly archived: string;
  /** What the playground says of the key that it asks for, and where the browser keeps the key. */
  readonly asked: string;
  readonly kept: readonly string[];
  /** Where an operator's page leads it. */
  readonly forbidden: string;
  readonly menu: readonly string[];
}

/** Signs in with a key, sends a request, opens its receipt, and looks for what is not its own. */
export async function liveAsCustomer(stage: Stage): Promise<Life> {
  const [own, other] = await Promise.all([makeCustomer(stage, "Aster Labs"), makeCustomer(stage, "Kestrel Analytics")]);
  const { context, page } = await stage.visit();
  await page.goto("/keys");
  await page.waitForURL("**/sign-in?**");
  await page.getByLabel("API key").fill(own.key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Keys" }).waitFor();
  const menu = await page.getByRole("navigation").getByRole("link").allInnerTexts();
  await page.goto(`/receipts/${own.requestId}`);
  await page.getByText("The lines add up to the cost").waitFor();
  const cost = await readAmount(page, "total");
  await page.goto(`/receipts/${other.requestId}`);
  await page.getByRole("alert").waitFor();
  const seen = (await page.getByRole("main").textContent()) ?? "";
  await page.goto(`/receipts/${enterArchivedDay(stage.database).requestId}`);
  const archived = (await page.getByRole("alert").textContent()) ?? "";
  await page.goto(`/accounts/${other.accountId}`);
  await page.waitForURL("**/overview");
  const forbidden = page.url();
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  const { asked, kept } = await askByKey(page, own.key);
  await context.close();
  return { own: cost, other: seen, archived, asked, kept, forbidden, menu };
}

/** Sends a request from the playground, and looks for the key in what stays in the browser. */
async function askByKey(page: Page, key: string) {
  await page.goto("/playground");
  const hint = page.getByRole("main").getByText("The one that you signed in with");
  const asked = (await hint.textContent()) ?? "";
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: "Open the receipt" }).waitFor();
  const { cookies, origins } = await page.context().storageState({ indexedDB: true });
  const stored = [...cookies, ...origins.flatMap((origin) => origin.localStorage)].map((one) => JSON.stringify(one));
  const inSession = await page.evaluate("JSON.stringify(sessionStorage)");
  return { asked, kept: [...stored, String(inSession)].filter((text) => text.includes(key)) };
}

/** An account with a key that has sent one request. */
async function makeCustomer({ tollgate }: Stage, name: string) {
  const { id: accountId } = (await tollgate.admin("accounts", "create", "--name", name)) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", accountId)) as { key: string };
  const response = await fetch(`${tollgate.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model: "tollgate-sim/plain",
      messages: [{ role: "user", content: "Hello" }],
      max_tokens: 8,
    }),
  });
  const requestId = response.headers.get("x-request-id") ?? "";
  await response.text();
  return { accountId, key, requestId };
}
