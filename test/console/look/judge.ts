import axe, { type RunOptions } from "axe-core";
import type { Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "../system/identity-life.ts";

export const narrow = { width: 360, height: 740 };
/** All that another theme can change. */
const ofColours: RunOptions = { runOnly: ["color-contrast"] };
/** With what fingers need, which the tool asks for only when told. */
const ofFingers: RunOptions = { rules: { "target-size": { enabled: true } } };
const longName = "A name that somebody gave without a thought of those who have to find a place for it ".repeat(2);
/** A name without a place to break. */
export const longWord = "somebodygavethisnamewithoutathoughtofwhohastofindaplaceforit".repeat(2);
const wide = { width: 1280, height: 800 };
const largest = { width: 1600, height: 900 };

/** Looks at every page as it stands, in both themes and both widths. Returns what is wrong, in words. */
export async function judgePages(stage: Stage): Promise<readonly string[]> {
  const { context, page } = await stage.visit();
  await context.addInitScript({ content: axe.source });
  // What Chromium says of itself with the locale C or POSIX, though it is no language.
  await context.addInitScript('Object.defineProperty(Navigator.prototype, "language", { get: () => "en-US@posix" })');
  const faults: string[] = [];
  await page.goto("/sign-in");
  faults.push(...(await judge(page, "/sign-in")));
  await page.goto(await stage.makeLink());
  const paths = await findPaths(stage);
  for (const path of paths) {
    await page.goto(path);
    faults.push(...(await judge(page, path)), ...(await findRefusals(page, path)));
  }
  faults.push(...(await judgeReceipt(page)), ...(await judgeDialog(page)), ...(await judgeBusy(page, paths)));
  await context.close();
  return [...faults, ...(await judgeMember(stage))];
}

/** The pages of people with a place in an account. Some only they have, the others say less to them than to operators. */
const ofMembers = [
  ...["/overview", "/playground", "/models", "/models/tollgate-sim/plain", "/requests", "/money", "/keys", "/usage"],
  ...["/people", "/invitation/tgin_none", "/audit", "/receipts/none", "/requests/none"],
];

/** Looks at them. */
async function judgeMember(stage: Stage): Promise<readonly string[]> {
  const { context, page } = await stage.visit();
  await context.addInitScript({ content: axe.source });
  await page.goto("/sign-in");
  await continueWithProvider(page, longName.replaceAll(" ", "-").slice(0, 100));
  await page.waitForURL("**/overview");
  const faults: string[] = [];
  for (const path of ofMembers) {
    await page.goto(path);
    faults.push(...(await judge(page, path)), ...(await findRefusals(page, path)));
  }
  await page.goto("/people");
  await page.getByRole("button", { name: "Invite" }).click();
  faults.push(...(await judge(page, "inviting")));
  await context.close();
  return faults;
}

/** What a page that its reader may open was refused. */
async function findRefusals(page: Page, path: string): Promise<readonly string[]> {
  const alerts = await page.getByRole("main").getByRole("alert").allInnerTexts();
  return path.includes("none") ? [] : alerts.map((alert) => `${path} says: ${alert}`);
}

/** Every page of the console, those of one thing with a thing that is there. */
async function findPaths({ tollgate }: Stage): Promise<readonly string[]> {
  const { id: account } = (await tollgate.admin("accounts", "create", "--name", longName)) as { id: string };
  const made = (await tollgate.admin("keys", "create", account, "--name", longName)) as { id: string; key: string };
  const key = made.id;
  await send(tollgate.url, made.key); // "12 s ago" is longer than "never"
  await tollgate.admin("keys", "set-limits", key, "--usd", "20", "--tpm", "200000", "--in-flight", "70");
  // Everything that a key can have at once, so that no other test's keys decide whether the table fits.
  const all = ["--models", "tollgate-sim/plain", "--class", "priority", "--usd", "1234.5", "--per", "month"];
  await tollgate.admin("keys", "set-limits", key, ...all, "--expires", "3650d");
  const plain = [
    "overview",
    "first-run",
    "accounts",
    "models",
    "usage",
    "usage?by=model&and=day&period=week",
    "margin",
    "playground",
    "fleet",
    "books",
    "audit",
    "settings",
    "requests",
    "keys",
  ];
  return [
    ...plain.map((page) => `/${page}`),
    `/keys?account=${account}`,
    ...["", "?tab=keys", "?tab=payments", "?tab=receipts", "?tab=people"].map((tab) => `/accounts/${account}${tab}`),
    "/models/tollgate-sim/plain",
    "/receipts/none",
    `/requests/${await send(tollgate.url)}`,
    "/no-such-page%zz",
  ];
}

/** A request, or one without a key that is refused. Returns its id. */
async function send(url: string, key?: string): Promise<string> {
  const messages = [{ role: "user", content: "Hello" }];
  const body = JSON.stringify({ model: "tollgate-sim/plain", messages, max_tokens: 8 });
  const headers = { "content-type": "application/json", ...(key && { authorization: `Bearer ${key}` }) };
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
  await response.text();
  return response.headers.get("x-request-id") ?? "";
}

async function judgeReceipt(page: Page): Promise<readonly string[]> {
  await page.goto("/overview");
  await page.locator('a[href^="/receipts/"]').first().click();
  await page.getByRole("heading", { level: 1, name: "Receipt" }).waitFor();
  return judge(page, "a receipt");
}

async function judgeDialog(page: Page): Promise<readonly string[]> {
  await page.goto("/keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("Limits of its own").click();
  return judge(page, "a dialog");
}

/** Buttons whose calls are under way, and what is said once they fail: a usual one, and one that removes something. */
async function judgeBusy(page: Page, paths: readonly string[]): Promise<readonly string[]> {
  const faults: string[] = [];
  const keys = paths.find((path) => path.startsWith("/keys?")) ?? "";
  for (const [opener, verb] of [
    [/^Create key/, "Create"],
    [/^Revoke/, "Revoke"],
  ] as const) {
    const held = Promise.withResolvers<void>();
    await page.route(`**/${verb}Key`, async (route) => {
      await held.promise;
      await route.abort();
    });
    await page.goto(keys);
    await page.getByRole("button", { name: opener }).first().click();
    const dialog = page.getByRole("dialog");
    const button = dialog.getByRole("button", { name: verb, exact: true });
    await button.click();
    await dialog.locator('[aria-busy="true"]').waitFor();
    faults.push(...(await judge(page, `${verb} while it is busy`)));
    held.resolve();
    await dialog.getByRole("alert").waitFor();
    faults.push(...(await judge(page, `${verb} after it failed`)));
    await page.unroute(`**/${verb}Key`);
  }
  return faults;
}

/** Looks at a page as it stands. Needs axe in it. */
export async function judge(page: Page, path: string): Promise<readonly string[]> {
  await page.locator("h1").waitFor();
  await page.locator(".loading").first().waitFor({ state: "detached" });
  await page.evaluate("document.fonts.ready.then(() => undefined)"); // the system's fonts are wider
  const faults: string[] = [];
  const headings = await page.locator("h1").count();
  if (headings !== 1) {
    faults.push(`${path} has ${headings} headings`);
  }
  for (const table of await findWideTables(page)) {
    faults.push(`${path}: the table "${table}" goes on beyond its edge`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  faults.push(...(await findAxeFaults(page)).map((fault) => `${path}: ${fault}`));
  await page.emulateMedia({ colorScheme: "dark" });
  faults.push(...(await findAxeFaults(page, ofColours)).map((fault) => `${path}, dark: ${fault}`));
  await page.setViewportSize(largest);
  const unused = await findUnused(page);
  if (unused > 0) {
    faults.push(`${path} leaves ${unused} of ${largest.width} pixels unused`);
  }
  for (const size of [wide, narrow]) {
    await page.setViewportSize(size);
    for (const overflow of await page.locator("html, dialog").evaluateAll(toOverflow)) {
      faults.push(`${path} is ${overflow} pixels too wide for ${size.width}`);
    }
  }
  faults.push(...(await findAxeFaults(page, ofFingers)).map((fault) => `${path}, narrow: ${fault}`));
  await page.setViewportSize(wide);
  return faults;
}

/** By how many pixels each goes on beyond its edge, of those that do. */
function toOverflow(boxes: readonly { readonly scrollWidth: number; readonly clientWidth: number }[]): number[] {
  return boxes.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth).filter((overflow) => overflow > 0);
}

/** The pixels beside a page that nothing uses. */
async function findUnused(page: Page): Promise<number> {
  const [content = 0, main = 0] = await page
    .locator(".content, .content main")
    .evaluateAll((boxes) => boxes.map(({ clientWidth }) => clientWidth));
  return content - main;
}

/** The tables that do not fit the screen, whatever the things in them are called. */
export function findWideTables(page: Page): Promise<string[]> {
  return page
    .locator(".table-box")
    .evaluateAll((boxes) =>
      boxes.filter((box) => box.scrollWidth > box.clientWidth).map((box) => box.getAttribute("aria-label") ?? ""),
    );
}

/** What axe finds on a page as it stands. Needs axe in it. */
export async function findAxeFaults(page: Page, rules: RunOptions = {}): Promise<readonly string[]> {
  const { violations } = await page.evaluate(
    (options) => (globalThis as unknown as { axe: typeof axe }).axe.run({ ...options, resultTypes: ["violations"] }),
    rules,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
}
