import { readFile } from "node:fs/promises";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { judge } from "../look/judge.ts";
import { readAmount, type Stage } from "../stage/stage.ts";
import { continueWithProvider } from "../system/identity-life.ts";

interface Life {
  /** What is said while the provider does not answer, and whether the service itself is said to be away. */
  readonly silent: readonly [alert: string, isAway: boolean];
  /** What the form says to less than the least. */
  readonly refusal: string;
  /** Sessions that the provider was asked for. */
  readonly sessions: number;
  /** What the page says before and after the event has come. */
  readonly waiting: string;
  readonly added: string;
  /** What the account has paid. */
  readonly bought: bigint;
  /** What is said of auto top-up. */
  readonly set: string;
  readonly refund: string;
  /** What the account has paid, less the refund. */
  readonly balance: bigint;
  /** The lines of a statement of the days before. */
  readonly statement: readonly string[];
  /** What somebody sees who may only read. */
  readonly reader: readonly string[];
  readonly faults: readonly string[];
}

/** Signs up, sends the first request, pays at the provider, and gets some of it back. */
export async function buyCredit(stage: Stage): Promise<Life> {
  const { context, page } = await stage.visit();
  await context.addInitScript({ content: axe.source });
  await page.goto("/sign-in");
  await continueWithProvider(page, "croesus");
  await page.waitForURL("**/overview");
  const { key, faults } = await takeFirstSteps(page);

  await page.getByRole("button", { name: "Buy credit" }).click();
  await page.getByRole("dialog").getByRole("cell").first().waitFor(); // its prices
  faults.push(...(await judge(page, "buying credit")));
  await page.getByLabel("Amount").fill("1");
  await page.getByRole("button", { name: "Continue to payment" }).click();
  const refusal = (await page.getByRole("alert").textContent()) ?? "";
  await page.getByLabel("Amount").fill("25");
  const silent = await pressWhileSilent(stage, page);
  stage.stripe.events.faults.hold = true;
  await page.getByRole("button", { name: "Continue to payment" }).click();
  await page.getByLabel("Save the card").check();
  await page.getByRole("button", { name: "Pay", exact: true }).click();
  await page.getByRole("progressbar", { name: "The payment" }).waitFor();
  const notice = page.getByRole("status").locator("p");
  const waiting = (await notice.first().textContent()) ?? "";
  faults.push(...(await judge(page, "waiting for the money")));
  stage.stripe.events.faults.hold = false;
  stage.stripe.events.release();
  await page.getByText("USD added").waitFor();
  const added = (await notice.first().textContent()) ?? "";
  const pay = page.getByRole("button", { name: /^Refund pi_/ });
  await pay.waitFor();
  const bought = await readAmount(page, "paid");

  await page.getByRole("button", { name: "Set auto top-up" }).click();
  await page.getByLabel("Charge").fill("10");
  await page.getByLabel("At most a month").fill("40");
  await page.getByRole("button", { name: "Save" }).click();
  const state = page.getByText("On: below");
  const set = (await state.textContent()) ?? "";

  await pay.click();
  await page.getByLabel("Amount").fill("7.5");
  await page.getByRole("dialog").getByRole("button", { name: "Refund" }).click();
  const refund = (await page.getByRole("dialog").getByRole("status").textContent()) ?? "";
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("row", { name: /^Refund/ }).waitFor();
  await page.getByRole("link", { name: "PDF" }).waitFor();
  await page.goto("/money");
  await pay.waitFor();
  const balance = await readAmount(page, "paid");
  faults.push(...(await judge(page, "/money")));
  const statement = await saveStatement(page);
  faults.push(...(await judge(page, "after a statement")));
  await context.close();
  const sessions = stage.stripe.requests.filter(({ path }) => path === "/v1/checkout/sessions").length;
  const reader = await readMoney(stage, key);
  return { refusal, silent, sessions, waiting, added, bought, set, refund, balance, statement, reader, faults };
}

/** A key, the request of the command that is shown, and its receipt. */
async function takeFirstSteps(page: Page): Promise<{ key: string; faults: string[] }> {
  await page.getByRole("button", { name: "Create a key" }).click();
  const command = (await page.locator("code", { hasText: "curl " }).textContent()) ?? "";
  const faults = [...(await judge(page, "the first steps"))];
  const [, url = "", key = "", body = ""] = /^curl (\S+) .*Bearer ([^"]+)".* -d '(.*)'$/.exec(command) ?? [];
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body });
  await response.text();
  await page.locator("main a", { hasText: "See what the request cost" }).waitFor(); // below the key
  const shown = await page.getByRole("dialog").locator("code").allTextContents();
  if (shown[0] !== key) {
    faults.push("the first key is gone before its reader was done with it");
  }
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("link", { name: "See what the request cost" }).waitFor();
  await page.getByRole("link", { name: "Buy credit" }).click();
  return { key, faults };
}

/** Wants to pay while the provider does not answer. */
async function pressWhileSilent({ stripe: { faults } }: Stage, page: Page): Promise<Life["silent"]> {
  Object.assign(faults, { path: "/v1/customers", failing: 10 });
  await page.getByRole("button", { name: "Continue to payment" }).click();
  const alert = page.getByRole("alert").filter({ hasText: "does not answer" });
  const text = (await alert.textContent()) ?? "";
  const isAway = (await page.getByText(/connection to .* is lost|cannot be reached/).count()) > 0;
  Object.assign(faults, { path: undefined, failing: 0 });
  return [text, isAway];
}

async function readMoney(stage: Stage, key: string): Promise<readonly string[]> {
  const { context, page } = await stage.visit();
  await page.goto("/sign-in?next=/money");
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  const set = (await page.getByText("On: below").textContent()) ?? "";
  const ways = await page.getByRole("button", { name: /Buy|Set|Refund|Card/ }).count();
  await context.close();
  return [ways === 0 ? "no way to pay" : `${ways} ways to pay`, set];
}

/** Saves a statement that ends today, and reads the file. */
async function saveStatement(page: Page): Promise<string[]> {
  await page.getByRole("button", { name: "Statement" }).click();
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  await page.getByLabel("From").fill(day(Date.now() - 172_800_000));
  await page.getByLabel("To").fill(day(Date.now()));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("dialog").getByRole("button", { name: "Save" }).click(),
  ]);
  return (await readFile(await download.path(), "utf8")).trimEnd().split("\n");
}
