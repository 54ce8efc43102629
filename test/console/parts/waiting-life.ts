import type { Locator, Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";

interface Waited {
  /** What stood on a page as if it were the answer to the next question, in words. */
  readonly faults: readonly string[];
  /** The rows of another list, before and after the rest of the list before came late. */
  readonly rows: readonly [before: number, after: number];
  /** Where the finder leads whoever does not wait for what is found. */
  readonly found: string;
  /** What a list says that could not be asked again, and how many of its rows stay. */
  readonly failed: readonly [said: string, rows: number];
}

/** Asks pages something else, and looks at them while the answer is held back. */
export async function waitForAnswers(stage: Stage): Promise<Waited> {
  const { tollgate } = stage;
  const { id } = (await tollgate.admin("accounts", "create", "--name", "Waiting Room")) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", id, "--name", "waits")) as { key: string };
  await refuseMany(tollgate.url, key);
  const { context, page } = await stage.visit({ reducedMotion: "reduce" }); // what turns pale does so at once
  await page.goto(await stage.makeLink());
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  const main = page.getByRole("main");
  const choose = (label: string, value: string) => () => main.getByLabel(label, { exact: true }).selectOption(value);
  const faults = [
    ...(await ask(page, "/accounts", "ListAccounts", main, choose("State", "frozen"))),
    ...(await ask(page, "/accounts", "ListAccounts", main, () => main.getByLabel("Find an account").fill("Waiting"))),
    ...(await ask(page, "/requests", "ListRequests", main, choose("Ended", "finished"))),
    ...(await ask(page, "/usage?period=day", "StreamUsage", main, choose("Period", "week"))),
    ...(await ask(page, "/usage?period=day", "StreamUsage", main, choose("By", "account"), groups)),
    ...(await ask(page, "/margin?period=day", "StreamMargins", main, choose("Period", "week"))),
    ...(await askForPrices(page, id)),
  ];
  const rows = await turnAway(page);
  const found = (await findInHaste(page)).replace(id, "ID");
  const failed = await failToLookAgain(page, id);
  await context.close();
  return { faults, rows, found, failed };
}

/** Requests for a model that is not there: more than a page of the list has. */
async function refuseMany(url: string, key: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ model: "none", messages: [{ role: "user", content: "Hello" }] });
  for (let sent = 0; sent < 60; sent += 1) {
    await (await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body })).text();
  }
}

/** Holds a call back, asks something else, and looks. Returns what is not told to be from before. */
async function ask(
  page: Page,
  path: string,
  call: string,
  within: Locator,
  change: () => Promise<unknown>,
  what = everything,
) {
  await page.goto(path);
  await within.locator(what).first().waitFor();
  return holdBack(page, path, call, within, change, what);
}

const groups = "tbody tr, .plot";
/** With the sums, which no grouping changes. */
const everything = `${groups}, .figure`;

async function holdBack(
  page: Page,
  name: string,
  call: string,
  within: Locator,
  change: () => Promise<unknown>,
  what = everything,
) {
  await within.locator('[aria-busy="true"]').first().waitFor({ state: "detached" });
  const held = Promise.withResolvers<void>();
  await page.route(`**/${call}`, async (route) => {
    await held.promise;
    await route.continue();
  });
  const asked = page.waitForRequest(`**/${call}`);
  await change();
  await asked;
  const stale = await within.locator(what).evaluateAll(countUntold);
  const faults = stale === 0 ? [] : [`${name} shows ${stale} of the answer before`];
  held.resolve();
  await within.locator('[aria-busy="true"]').first().waitFor({ state: "detached" });
  await page.unroute(`**/${call}`);
  return faults;
}

/** How many are neither told to be busy nor pale. Runs in the browser. */
function countUntold(shown: readonly unknown[]): number {
  interface Shown {
    readonly parentElement: Shown | null;
    closest(selector: string): unknown;
  }
  const { getComputedStyle } = globalThis as unknown as {
    getComputedStyle(element: Shown): { readonly opacity: string; readonly display: string };
  };
  const isPale = (one: Shown | null): boolean => {
    if (one === null) {
      return false;
    }
    const { opacity, display } = getComputedStyle(one);
    return (Number(opacity) < 0.9 && display !== "contents") || isPale(one.parentElement);
  };
  return (shown as readonly Shown[]).filter((one) => one.closest('[aria-busy="true"]') === null || !isPale(one)).length;
}

/** The preview of own prices, which are about to be set. */
async function askForPrices(page: Page, account: string) {
  await page.goto(`/accounts/${account}?tab=payments`);
  await page.getByRole("button", { name: "Own prices" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator(everything).first().waitFor();
  return holdBack(page, "the preview of prices", "GetAccountPrices", dialog, () =>
    dialog.getByLabel("Discount").fill("50"),
  );
}

/** Asks for more of a list, and for another list before it comes. Returns the rows of that, before and after. */
async function turnAway(page: Page): Promise<readonly [number, number]> {
  await page.goto("/requests?outcome=refused");
  const more = page.getByRole("main").getByRole("button", { name: "Show more" });
  await more.waitFor();
  const held = Promise.withResolvers<void>();
  await page.route(
    "**/ListRequests",
    async (route) => {
      await held.promise;
      await route.continue();
    },
    { times: 1 },
  );
  const [late] = await Promise.all([page.waitForRequest("**/ListRequests"), more.click()]);
  await page.getByLabel("Ended").selectOption("finished");
  const rows = page.getByRole("table", { name: "Requests, newest first" }).locator("tbody tr");
  const count = page.getByRole("main").getByText(/^\d+ requests?$/);
  await count.waitFor();
  const before = await rows.count();
  held.resolve();
  await (await late.response())?.finished();
  await page.waitForLoadState("networkidle");
  return [before, await rows.count()];
}

/** Finds one thing, types another, and presses Enter at once. */
async function findInHaste(page: Page): Promise<string> {
  await page.getByRole("button", { name: /^Find/ }).click();
  const field = page.getByRole("dialog").getByRole("textbox");
  await field.fill("plain");
  await page.getByRole("dialog").getByRole("link", { name: "model tollgate-sim/plain" }).waitFor();
  await field.fill("Waiting Room");
  await field.press("Enter");
  await page.waitForURL((url) => url.pathname !== "/requests");
  return new URL(page.url()).pathname;
}

/** Changes something while the list cannot be loaded again. */
async function failToLookAgain(page: Page, account: string): Promise<readonly [string, number]> {
  await page.goto(`/keys?account=${account}`);
  await page.getByRole("button", { name: "Revoke waits" }).click();
  await page.route("**/ListKeys", (route) => route.fulfill({ status: 500 }));
  await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
  const said = (await page.getByRole("main").getByRole("alert").getByRole("paragraph").textContent()) ?? "";
  const rows = await page.getByRole("main").locator("tbody tr").count();
  await page.unroute("**/ListKeys");
  return [said, rows];
}
