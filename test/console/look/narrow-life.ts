import type { Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "../system/identity-life.ts";
import { longWord, narrow } from "./judge.ts";

interface Walked {
  /** The paths that were opened. */
  readonly paths: readonly string[];
  /** Pages whose document is wider than the window, what can be done with rows that nobody sees, and plots with cut labels. */
  readonly faults: readonly string[];
}

/** Opens every page at 360 pixels, as a telephone has them, where everything that people name has a long name. */
export async function walkNarrow(stage: Stage, model: string): Promise<Walked> {
  const made = await nameThings(stage, model);
  const walks = [
    await walk(stage, ["/", "/status", `/models/${model}`, "/sign-in"]),
    await walk(stage, ofOperators(model, made), async (page) => {
      await page.goto(await stage.makeLink());
      await page.waitForURL("**/overview");
    }),
    await walk(stage, ofMembers, signUp, ask),
    await walk(stage, ofKeys(model, made), async (page) => {
      await page.goto("/sign-in");
      await page.getByLabel("API key").fill(made.secret);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.waitForURL("**/overview");
    }),
  ];
  return { paths: walks.flatMap(({ paths }) => paths), faults: walks.flatMap(({ faults }) => faults) };
}

interface Made {
  readonly account: string;
  readonly frozen: string;
  readonly key: string;
  readonly secret: string;
  /** Ids of requests. */
  readonly served: string;
  readonly refused: string;
}

const label = longWord.slice(0, 60);

/** An account with a key, payments, requests and an invitation; a frozen one; and an endpoint. */
async function nameThings({ tollgate }: Stage, model: string): Promise<Made> {
  const { id: account } = (await tollgate.admin("accounts", "create", "--name", longWord)) as { id: string };
  const { id: frozen } = (await tollgate.admin("accounts", "create", "--name", longWord)) as { id: string };
  const made = await tollgate.admin("keys", "create", account, "--name", longWord, "--models", model);
  const { id: key, key: secret } = made as { id: string; key: string };
  await tollgate.admin("accounts", "top-up", account, "--usd", "987.654321", "--ref", longWord);
  await tollgate.admin("accounts", "top-up", account, "--usd", "12.345678", "--ref", `pi_${longWord}`);
  await tollgate.admin("accounts", "freeze", frozen, "--reason", longWord);
  await tollgate.admin("accounts", "invite", account, "--role", "owner", "--email", `${label}@example.com`);
  await tollgate.admin("webhooks", "create", "--url", `http://127.0.0.1:9/${longWord}`, "--events", "webhook.test");
  await tollgate.admin("operators", "create", "--name", longWord, "--role", "reader");
  const send = async (model: string) => {
    const response = await fetch(`${tollgate.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json", "x-title": label },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello" }], max_tokens: 8 }),
    });
    await response.text();
    return response.headers.get("x-request-id") ?? "";
  };
  return { account, frozen, key, secret, served: await send(model), refused: await send(longWord) };
}

const ofOperators = (model: string, { account, frozen, key, served, refused }: Made) => [
  ...["/overview", "/overview?range=hour", "/first-run", "/accounts", "/accounts?order=spent"],
  ...["", "?tab=keys", "?tab=payments", "?tab=receipts", "?tab=people"].map((tab) => `/accounts/${account}${tab}`),
  ...[`/accounts/${frozen}`, "/models", `/models/${model}`, "/fleet", "/books", "/books?sum=granted", "/margin"],
  ...["/usage?period=week", "/usage?by=key&and=model", "/usage?by=label:app"],
  `/usage?${new URLSearchParams({ account, key, model, label: `app=${label}` })}`,
  ...["/playground", "/audit", "/settings", "/requests", `/receipts/${served}`, `/requests/${refused}`],
  ...["/keys", `/keys?account=${account}`, `/${longWord}`],
];

const ofMembers = [
  ...["/overview", "/money", "/people", "/invitation/tgin_none", "/keys", "/usage", "/requests", "/audit"],
  "/playground",
];

const ofKeys = (model: string, { served, refused }: Made) => [
  ...["/overview", "/money", "/keys", "/usage", "/requests", "/playground", "/models", `/models/${model}`],
  ...[`/receipts/${served}`, `/requests/${refused}`],
];

async function signUp(page: Page): Promise<void> {
  await page.goto("/sign-in");
  await continueWithProvider(page, longWord.slice(0, 100));
  await page.waitForURL("**/overview");
}

/** `end`: looks at what the last page does. */
async function walk(
  stage: Stage,
  paths: readonly string[],
  signIn?: (page: Page) => Promise<void>,
  end?: (page: Page) => Promise<readonly string[]>,
): Promise<Walked> {
  const options = { viewport: narrow, isMobile: true, hasTouch: true };
  const { context, page } = await stage.visit(options);
  await signIn?.(page);
  const faults: string[] = [];
  for (const path of paths) {
    await page.goto(path);
    await page.locator("h1").first().waitFor();
    await page.locator(".loading").first().waitFor({ state: "detached" });
    faults.push(...(await measure(page, path)), ...(await findHidden(page, path)), ...(await findCut(page, path)));
    const menu = page.getByRole("button", { name: "Menu" });
    if (await menu.isVisible()) {
      await menu.click();
      faults.push(...(await measure(page, `the menu of ${path}`)));
    }
  }
  faults.push(...((await end?.(page)) ?? []));
  await context.close();
  return { paths, faults };
}

/** Buttons on rows of tables that are not in sight until the table is moved sideways. */
async function findHidden(page: Page, path: string): Promise<readonly string[]> {
  const hidden = await page.evaluate<string[]>(`Array.from(document.querySelectorAll(".table-box tbody button"))
    .filter((button) => {
      const [own, box] = [button, button.closest(".table-box")].map((one) => one.getBoundingClientRect());
      return own.left < box.left || own.right > box.right;
    })
    .map((button) => button.ariaLabel ?? button.textContent)`);
  return hidden.map((what) => `${path} hides the button ${what}`);
}

/** Plots that have something drawn at their left edge, where labels of the axis are cut. */
async function findCut(page: Page, path: string): Promise<readonly string[]> {
  const cut = await page.evaluate<number>(`Array.from(document.querySelectorAll("canvas"))
    .filter(({ width, height }) => width > 0 && height > 0)
    .filter((canvas) => canvas.getContext("2d").getImageData(0, 0, 1, canvas.height).data.some((part) => part > 0)).length`);
  return cut === 0 ? [] : [`${path} cuts the labels of ${cut} plots`];
}

/** Sends a request from the page that is open. */
async function ask(page: Page): Promise<readonly string[]> {
  await page.getByLabel("Prompt", { exact: true }).fill(longWord);
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("link", { name: "Open the receipt" }).waitFor();
  return measure(page, "an answer");
}

/** A telephone shows a document that is too wide smaller than it is, so that the window is wider, too. */
async function measure(page: Page, name: string): Promise<readonly string[]> {
  const width = await page
    .locator("html")
    .evaluate((html) => Math.max(html.scrollWidth, (globalThis as unknown as { innerWidth: number }).innerWidth));
  return width > narrow.width ? [`${name} is ${width} pixels wide`] : [];
}
