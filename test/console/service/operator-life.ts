import type { Page } from "playwright-core";
import { readAmount, type Stage } from "../stage/stage.ts";

interface Life {
  /** What two requests cost by their receipts. */
  readonly receipt: bigint;
  readonly balanceBefore: bigint;
  readonly balanceAfter: bigint;
}

/** Link, first answer, live overview, account, top-up, key, playground, receipt, books, drain, price: as a person does it. */
export async function liveAsOperator(stage: Stage): Promise<Life> {
  const { context, page } = await stage.visit();
  const link = await stage.makeLink();
  await page.goto(link);
  await page.waitForURL("**/overview");
  await page.getByText("Tokens a second").first().waitFor();
  await makeFirstRequest(page);
  await refuseSecondUse(stage, link);
  const account = await makeAccount(page);
  await topUp(page);
  const balanceBefore = await readAmount(page, "balance");
  await makeKey(page);
  const receipt = await sendPrompt(page, account.split("/").at(-1) ?? "");
  await prove(page);
  await drainAndResume(page);
  await setPrice(page);
  await page.goto(account);
  await page.getByText("The sum of 2 credits").waitFor();
  const balanceAfter = await readAmount(page, "balance");
  await compare(page, account.split("/").at(-1) ?? "");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.waitForURL("**/sign-in");
  await context.close();
  return { receipt, balanceBefore, balanceAfter };
}

/** What somebody new does, who reads nothing but the buttons. */
async function makeFirstRequest(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Make the first request" }).click();
  await page.getByRole("button", { name: "Create account and key" }).click();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("link", { name: "Open the receipt" }).click();
  await page.getByText("The lines add up to the cost").waitFor();
  const amounts = await readAmounts(page, ["held", "settled"]);
  const [held = 0n, shrunk = 0n, settled = 0n] = amounts;
  if (amounts.length !== 3 || held < shrunk || shrunk < settled || settled !== (await readAmount(page, "total"))) {
    throw new Error(`a receipt says that ${amounts.join(", ")} pico-USD were held, shrunk and settled`);
  }
}

/** All amounts of these names, in the order of the page. */
async function readAmounts(page: Page, names: readonly string[]): Promise<bigint[]> {
  const shown = page.locator(names.map((name) => `.hold [data-name="${name}"]`).join(", "));
  const texts = await shown.evaluateAll((all) => all.map((one) => one.getAttribute("data-pico-usd") ?? ""));
  return texts.map(BigInt);
}

async function refuseSecondUse(stage: Stage, link: string): Promise<void> {
  const { context, page } = await stage.visit();
  const answer = await page.goto(link);
  if (answer?.status() !== 410 || !(await page.content()).includes("tollgate console-link")) {
    throw new Error(`a used link is answered with ${answer?.status()}: ${await page.content()}`);
  }
  await context.close();
}

/** By the menu. */
async function open(page: Page, name: string): Promise<void> {
  await page.getByRole("navigation").getByRole("link", { name }).click();
}

async function makeAccount(page: Page): Promise<string> {
  await open(page, "Accounts");
  await page.getByRole("button", { name: "Create account" }).click();
  await page.getByLabel("Name").fill("Northwind Research");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { level: 1, name: "Northwind Research" }).waitFor();
  return page.url();
}

async function topUp(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Top up" }).click();
  await page.getByLabel("Amount").fill("25.50");
  await page.getByLabel("Reference").fill("invoice-1");
  await page.getByRole("button", { name: "Top up" }).click();
  await page.locator('[data-name="balance"][data-pico-usd="26500000000000"]').waitFor();
  await page.getByText("Paid in: 25.50 USD.").waitFor();
}

async function makeKey(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Keys", exact: true }).click();
  await page.waitForURL("**?tab=keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("Name").fill("production");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.locator("dialog code").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByRole("row", { name: /production.*Active/ }).waitFor();
}

/** Through the messages surface, with a tool whose result goes back; the receipt says what the playground said. */
async function sendPrompt(page: Page, account: string): Promise<bigint> {
  await open(page, "Playground");
  await page.getByLabel("Who pays").fill(account);
  await page.getByLabel("Surface").selectOption({ label: "Messages" });
  await page.getByLabel("Model", { exact: true }).selectOption("tollgate-sim/plain");
  await page.getByText("Tools", { exact: true }).click();
  await page.getByRole("button", { name: "Use an example" }).click();
  await page
    .getByLabel("Prompt", { exact: true })
    .fill('What is the weather in Oslo? [[sim:tools=1]][[sim:args={"city":"Oslo"}]]');
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText('"city": "Oslo"').waitFor();
  await page.getByRole("link", { name: "Open the receipt" }).waitFor();
  const called = await readAmount(page, "total");
  const first = await page.getByRole("link", { name: "Open the receipt" }).getAttribute("href");
  await page.getByLabel("Result of get_weather").fill("Sunny, 21 degrees");
  await page.getByRole("button", { name: "Send the results" }).click();
  const receipt = page.locator(`a[href^="/receipts/"]:not([href="${first}"])`);
  await receipt.waitFor();
  const shown = await readAmount(page, "total");
  await receipt.click();
  await page.getByRole("heading", { level: 1, name: "Receipt" }).waitFor();
  await page.getByText("The lines add up to the cost").waitFor();
  const total = await readAmount(page, "total");
  if (total !== shown) {
    throw new Error(`the playground showed ${shown} pico-USD, the receipt ${total}`);
  }
  return called + total;
}

/** Two models beside each other, a reply to both, and the same from a program. */
async function compare(page: Page, account: string): Promise<void> {
  await open(page, "Playground");
  await page.getByLabel("Who pays").fill(account);
  await page.getByLabel("System prompt").fill("Answer in rhymes.");
  await page.getByLabel("Temperature").fill("0.5");
  await page.getByLabel("Model", { exact: true }).selectOption("tollgate-sim/plain");
  await page.getByLabel("Beside it").selectOption("tollgate-sim/reasoner-off");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: "Open the receipt" }).nth(1).waitFor();
  await page.getByLabel("Reply").fill("And at night?");
  await page.getByRole("button", { name: "Reply" }).click();
  await page.locator(".said-by-user", { hasText: "And at night?" }).nth(1).waitFor();
  await page.getByRole("link", { name: "Open the receipt" }).nth(1).waitFor();
  await page.getByText("JavaScript", { exact: true }).click();
  const code = (await page.locator("pre").last().textContent()) ?? "";
  const needed = ['import OpenAI from "openai"', '"role": "system"', '"temperature": 0.5', "And at night?"];
  const missing = needed.filter((part) => !code.includes(part));
  if (missing.length > 0) {
    throw new Error(`the example has no ${missing.join(", ")}`);
  }
}

async function prove(page: Page): Promise<void> {
  await open(page, "Books");
  await page.getByRole("button", { name: "Prove now" }).click();
  // One place of the page tells the result, and nothing else has that role.
  await page.getByRole("status").filter({ hasText: "checked in" }).waitFor();
  const result = await page.getByRole("status").textContent();
  if (!result?.includes("The books hold")) {
    throw new Error(`the page says: ${result}`);
  }
  await page.getByRole("row").filter({ hasText: "They held" }).first().waitFor();
  // Whoever comes later sees the sums of the last proof.
  await page.reload();
  await page.getByText("Of the proof of").waitFor();
  await page.getByRole("link", { name: "Paid in and granted" }).click();
  const addends = page.getByRole("region", { name: "Paid in and granted, by account" }).getByRole("link");
  await addends.first().waitFor();
  await page.getByRole("button", { name: "Close" }).click();
  await addends.first().waitFor({ state: "detached" });
}

async function drainAndResume(page: Page): Promise<void> {
  await open(page, "Fleet");
  const row = page.getByRole("row").filter({ hasText: "tollgate-sim/embedder" });
  await row.getByRole("button", { name: "Drain" }).click();
  await row.getByText("Draining").waitFor();
  await row.getByRole("button", { name: "Resume" }).click();
  await row.getByText("Healthy").waitFor();
}

/** Three times the price asks to be confirmed. */
async function setPrice(page: Page): Promise<void> {
  await open(page, "Models");
  await page.getByRole("link", { name: "tollgate-sim/plain" }).click();
  await page.getByRole("button", { name: "Set price" }).click();
  await page.getByLabel("Input").fill("0.75");
  await page.getByText("Money that comes in from now on pays this").waitFor();
  await page.getByText(/in \d+ credits/).waitFor();
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.locator('[data-name="rate"][data-pico-usd="750000000000"]').first().waitFor();
  await page.getByRole("row").filter({ hasText: "Set by an operator" }).waitFor();
}
