// Takes the pictures of docs/console.md: `npm run screenshots`. It starts Tollgate with its simulated fleet, fills it with sample
// accounts and traffic, and looks at every page in both themes with the Chromium that tests use.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createConnectTransport } from "@connectrpc/connect-node";
import type { Page } from "playwright-core";
import { startChromium } from "../test-services/chromium.ts";
import { buildConsole } from "./build.ts";
import { fill, type Sample } from "./sample-data.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const output = join(root, "docs", "images", "console");
const viewport = { width: 1280, height: 800 };
const quality = 72;

/** A page, and what is done there before the picture is taken. */
interface Scene {
  readonly name: string;
  readonly path: (sample: Sample) => string;
  readonly act?: (page: Page, sample: Sample) => Promise<void>;
}

const press = (name: string) => async (page: Page) => page.getByRole("button", { name }).click();
/** The books come first: the overview says that they were proved. */
const scenes: readonly Scene[] = [
  {
    name: "books",
    path: () => "/books",
    act: async (page) => {
      await press("Prove now")(page);
      await page.getByRole("status").filter({ hasText: "The books hold" }).waitFor();
      await page.getByText("They held").first().waitFor();
    },
  },
  { name: "overview", path: () => "/overview" },
  { name: "accounts", path: () => "/accounts?order=spent" },
  { name: "account", path: ({ accountId }) => `/accounts/${accountId}` },
  {
    name: "receipt",
    path: ({ requestId }) => `/receipts/${requestId}`,
    act: (page) => page.getByText("Northwind Research").waitFor(),
  },
  {
    name: "requests",
    path: () => "/requests?outcome=refused",
    act: (page) => page.getByRole("table").getByText("account frozen").first().waitFor(),
  },
  { name: "keys", path: ({ accountId }) => `/keys?account=${accountId}` },
  { name: "models", path: () => "/models" },
  {
    name: "model",
    path: ({ model }) => `/models/${model}`,
    act: async (page) => {
      await press("Set price")(page);
      await page.getByLabel("Input").fill("0.26");
    },
  },
  { name: "usage", path: () => "/usage?by=account" },
  {
    name: "playground",
    path: () => "/playground",
    act: async (page, { accountId }) => {
      await page.getByLabel("Who pays").fill(accountId);
      await press("Send")(page);
      await page.getByText("Open the receipt").waitFor();
      await page.getByRole("heading", { level: 1 }).scrollIntoViewIfNeeded();
    },
  },
  { name: "fleet", path: () => "/fleet" },
  { name: "audit", path: () => "/audit" },
  { name: "settings", path: () => "/settings" },
  {
    name: "first-run",
    path: () => "/first-run",
    act: async (page) => {
      await press("Create account and key")(page);
      await press("Done")(page);
      await press("Send")(page);
      await page.getByText("Open the receipt").waitFor();
    },
  },
];

await buildConsole();
const folder = await mkdtemp(join(tmpdir(), "tollgate-screenshots-"));
const config = join(folder, "tollgate.yaml");
const listen = Object.fromEntries(
  ["http", "console", "grpc", "connect", "webhooks", "admin"].map((name) => [name, "127.0.0.1:0"]),
);
await writeFile(config, JSON.stringify({ listen }));
const tollgate = spawn(
  process.execPath,
  [join(root, "bin", "tollgate.js"), "serve", "--config", config, "--log", "json"],
  {
    cwd: folder,
    env: { ...process.env, TOLLGATE_DATA_DIR: join(folder, "data") },
    stdio: ["ignore", "pipe", "inherit"],
  },
);
const browser = await startChromium();
try {
  await takeAll(await readAddresses());
} finally {
  await browser.close();
  const ended = once(tollgate, "exit");
  if (tollgate.kill("SIGTERM")) {
    await ended;
  }
  await rm(folder, { recursive: true, force: true });
}

async function readAddresses(): Promise<Record<string, string>> {
  for await (const line of createInterface(tollgate.stdout)) {
    const entry = JSON.parse(line);
    if (entry.msg === "tollgate ready") {
      tollgate.stdout.resume();
      return entry;
    }
  }
  throw new Error("it ended before it was ready");
}

async function takeAll(addresses: Record<string, string>): Promise<void> {
  const operatorToken = (await readFile(join(folder, "data", "operator-token"), "utf8")).trim();
  const transport = createConnectTransport({
    baseUrl: `http://${addresses.connect}`,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${operatorToken}`);
        return next(request);
      },
    ],
  });
  const sample = await fill(transport, `http://${addresses.http}`);
  for (const colorScheme of ["light", "dark"] as const) {
    const context = await browser.newContext({
      locale: "en-US",
      colorScheme,
      viewport,
      baseURL: `http://${addresses.console}`,
    });
    const page = await context.newPage();
    await page.goto("/sign-in");
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await take(page, "sign-in", colorScheme);
    await page.getByText("You run this service").click();
    await page.getByLabel("Operator token").fill(operatorToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL("**/overview");
    for (const scene of scenes) {
      await page.goto(scene.path(sample));
      await page.locator("h1").waitFor();
      await page.locator(".loading").first().waitFor({ state: "detached" });
      await scene.act?.(page, sample);
      await take(page, scene.name, colorScheme);
    }
    await context.close();
  }
  sample.stop();
}

/** WebP is a third of PNG, which Playwright writes. */
async function take(page: Page, name: string, colorScheme: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality });
  await mkdir(join(output, name), { recursive: true });
  await writeFile(join(output, name, `${colorScheme}.webp`), Buffer.from(data, "base64"));
}
