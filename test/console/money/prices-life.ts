import axe from "axe-core";
import type { Locator, Page } from "playwright-core";
import { judge } from "../look/judge.ts";
import type { Stage } from "../stage/stage.ts";

interface Life {
  /** The rows of the preview. */
  readonly preview: readonly string[];
  /** What the dialog says to what is no discount. */
  readonly refusal: string;
  /** What the page says after own prices were set, and after they ended. */
  readonly said: readonly string[];
  /** The credits: free ones, and those from before own prices, by them, and after them. */
  readonly credits: readonly string[];
  /** What a customer reads of own prices, and the buttons for them. */
  readonly customer: Awaited<ReturnType<typeof readAsCustomer>>;
  /** What the page says of a credit line. */
  readonly line: readonly string[];
  /** What it says once the line is drawn, and once that is repaid. */
  readonly drawn: readonly string[];
  readonly faults: readonly string[];
}

const fixedModel = "tollgate-sim/plain";

/** Gives an account a discount and a fixed price, money by them, the general prices again, and a credit line. */
export async function agreeOnPrices(stage: Stage): Promise<Life> {
  const { tollgate } = stage;
  const { id: account } = (await tollgate.admin("accounts", "create", "--name", "Bargainer")) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", account)) as { key: string };
  const pay = (reference: string) => tollgate.admin("accounts", "top-up", account, "--usd", "10", "--ref", reference);
  const { context, page } = await stage.visit();
  await context.addInitScript({ content: axe.source });
  await page.goto(await stage.makeLink());
  await pay("before-own-prices");

  await page.goto(`/accounts/${account}?tab=payments`);
  await page.getByText("None: payments lock in the general prices.").waitFor();
  await page.getByRole("button", { name: "Own prices" }).click();
  const dialog = page.getByRole("dialog");
  const set = dialog.getByRole("button", { name: "Set own prices" });
  await page.getByLabel("Discount").fill("100");
  await set.click();
  const refusal = (await dialog.getByRole("alert").textContent()) ?? "";
  await page.getByLabel("Discount").fill("12.5");
  await page.getByLabel("Fix the price of").selectOption(fixedModel);
  const fixed = dialog.getByRole("group", { name: fixedModel });
  await fixed.getByLabel("Input").fill("0.18");
  await fixed.getByLabel("Output").fill("0.22");
  await dialog.getByRole("row", { name: /\$0\.18.*\$0\.22/ }).waitFor();
  const preview = await readRows(dialog);
  const faults = [...(await judge(page, "own prices"))];
  await set.click();
  const said = [await readSaid(page, /^Own prices are set/)];
  await page.getByText("Own prices 1, set").waitFor();
  faults.push(...(await judge(page, "an account with own prices")));
  await pay("by-own-prices");
  const customer = await readAsCustomer(stage, key);

  await page.getByRole("button", { name: "General prices" }).click();
  await dialog.getByRole("row").nth(1).waitFor();
  faults.push(...(await judge(page, "general prices again")));
  await dialog.getByRole("button", { name: "End own prices" }).click();
  said.push(await readSaid(page, /^Own prices have ended/));
  await pay("after-own-prices");

  await page.goto(`/accounts/${account}`);
  await page
    .getByRole("row", { name: /^Payment/ })
    .nth(2)
    .waitFor();
  const credits = await page.getByRole("rowheader").allTextContents();
  const line = await lendAndTakeBack(page, faults);
  const drawn = await drawLine(stage, page, faults);
  await context.close();
  return { preview, refusal, said, credits, customer, line, drawn, faults };
}

/** Sets a credit line and takes it away. */
async function lendAndTakeBack(page: Page, faults: string[]): Promise<string[]> {
  const set = async (usd: string) => {
    await page.getByRole("button", { name: "Set limits" }).click();
    await page.getByLabel("Credit line").fill(usd);
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator("dialog").waitFor({ state: "detached" });
  };
  await set("500");
  const figure = page.locator(".figure", { hasText: "Credit line" });
  await figure.waitFor();
  const shown = [...(await figure.allInnerTexts()), ...(await page.getByText("It may owe").allTextContents())];
  faults.push(...(await judge(page, "an account with a credit line")));
  await set("");
  await figure.waitFor({ state: "detached" });
  return shown;
}

/** Spends more than an account has, by a request whose tokens are dear, and repays it. */
async function drawLine({ tollgate }: Stage, page: Page, faults: string[]): Promise<string[]> {
  const model = "tollgate-sim/embedder";
  await tollgate.admin("prices", "set", model, "--input", "1000", "--yes");
  const { id } = (await tollgate.admin("accounts", "create", "--name", "Borrower")) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  await tollgate.admin("accounts", "set-limits", id, "--credit", "500");
  await page.goto(`/accounts/${id}?tab=payments`);
  await page.getByRole("row", { name: /^Free tier/ }).waitFor();
  const response = await fetch(`${tollgate.url}/v1/embeddings`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model, input: Array(4).fill("word ".repeat(2000)) }),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  await response.text();
  await page.goto(`/accounts/${id}`);
  const debt = page.locator('.figure:has([data-name="debt"])');
  await debt.waitFor();
  await page.getByText("Until then requests draw the credit line.").waitFor();
  const owed = ((await debt.textContent()) ?? "").replace(/\d+\.\d+/, "N");
  faults.push(...(await judge(page, "an account that owes on its line")));
  await page.goto(`/accounts/${id}?tab=payments`);
  await page.getByRole("row", { name: /^Free tier/ }).waitFor();
  await tollgate.admin("accounts", "top-up", id, "--usd", "5", "--ref", "repays-a-part");
  const repaid = page.getByRole("row", { name: /^Top-up/ });
  await repaid.waitFor(); // by itself
  return [owed, (await repaid.getByRole("cell").first().textContent()) ?? ""];
}

async function readAsCustomer(stage: Stage, key: string) {
  const { context, page } = await stage.visit();
  await page.goto("/sign-in?next=/money");
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  const read = (await page.getByText("Own prices 1, set").textContent()) ?? "";
  const buttons = await page.getByRole("button", { name: /Own prices|General prices/ }).count();
  await context.close();
  return { read, buttons };
}

const readRows = async (within: Locator) => (await within.getByRole("row").allTextContents()).slice(1);

async function readSaid(page: Page, text: RegExp): Promise<string> {
  return (await page.getByText(text).first().textContent()) ?? "";
}
