import type { CDPSession, Page } from "playwright-core";
import { openDatabases, stores } from "../ledger/databases.ts";
import { usage } from "../measure/cpu.ts";
import { percentiles, spread } from "../report/statistics.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { accountId } from "./fill.ts";
import { measureFirstPaint } from "./first-paint.ts";
import { type ConsoleStage, openConsole } from "./stage.ts";

/** From the click until the page is drawn, on a machine that has nothing else to do. */
const mostMs = 200;
const rounds = 7;
const whole = { accounts: 10_000, days: 90, receipts: 1_000_000 };
const quick = { accounts: 1_000, days: 30, receipts: 20_000 };
/** Of each of the five models. */
const servers = { whole: 40, quick: 8 };

/** Pages, and what stands on them once they are drawn. */
const pages: readonly { readonly name: string; readonly path: string; readonly drawn: string }[] = [
  { name: "Overview", path: "/overview", drawn: ".plot canvas" },
  { name: "Accounts", path: "/accounts", drawn: "tbody tr:nth-child(50)" },
  { name: "Accounts by name", path: "/accounts?name=customer 00", drawn: "tbody tr:nth-child(50)" },
  { name: "Account", path: `/accounts/${accountId(700)}`, drawn: '[data-name="remaining"]' },
  { name: "Keys", path: `/keys?account=${accountId(700)}`, drawn: "tbody tr:nth-child(2)" },
  { name: "Models", path: "/models", drawn: "tbody tr:nth-child(5)" },
  { name: "Model", path: "/models/tollgate-sim/plain", drawn: "tbody tr" },
  { name: "Usage by model, 24 hours", path: "/usage", drawn: "tfoot" },
  { name: "Usage by model, 90 days", path: "/usage?period=quarter", drawn: "tfoot" },
  { name: "Usage by account, 24 hours", path: "/usage?by=account", drawn: "tfoot" },
  { name: "Usage by account, 30 days", path: "/usage?by=account&period=month", drawn: "tfoot" },
  { name: "Usage by key, 24 hours", path: "/usage?by=key", drawn: "tfoot" },
  { name: "Playground", path: "/playground", drawn: "select option" },
  { name: "Fleet", path: "/fleet", drawn: "tbody tr:nth-child(40)" },
  { name: "Books", path: "/books", drawn: "h2" },
  { name: "Audit", path: "/audit", drawn: "h1" },
  { name: "Settings", path: "/settings", drawn: "h2" },
  { name: "Receipt", path: "/receipts/req_700", drawn: '[data-name="total"]' },
];

/** Every page of the console over 10,000 accounts, 100 million requests and 200 servers, in a browser. */
export const consolePages: Scenario = {
  name: "console",
  shows:
    "first paint and weight of the console, and times from a click to a drawn page, with 10,000 accounts, 100 million requests, 200 servers",
  onlyNamed: true,
  async run({ directory, options, progress }) {
    const figures: Figure[] = [];
    for (const store of stores) {
      const databases = await openDatabases(store, directory);
      const size = options.quick ? quick : whole;
      const stage = await openConsole(await databases.create("console"), {
        ...{ size, progress, servers: options.quick ? servers.quick : servers.whole },
      });
      try {
        progress(`opening pages on ${store}`);
        figures.push(...(await measureFirstPaint(stage, store)));
        figures.push(...(await measurePages(stage, store, progress)));
      } finally {
        await stage.close();
        await databases.stop();
      }
    }
    return { figures };
  },
};

/** Opens each page by a click, again and again. The first time of each loads its script and is left out. */
export async function measurePages(
  stage: ConsoleStage,
  store: string,
  progress: (line: string) => void,
): Promise<Figure[]> {
  const { page, tollgate } = stage;
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const figures: Figure[] = [];
  for (const { name, path, drawn } of pages) {
    const openings: Opening[] = [];
    for (let round = 0; round <= rounds; round++) {
      const opening = await open(page, session, tollgate.process.pid ?? 0, { path, drawn });
      if (round > 0) {
        openings.push(opening);
      }
    }
    const median = (read: (opening: Opening) => number) => spread([percentiles(openings.map(read)).p50]);
    const figure = { scenario: "console", better: "lower" } as const;
    const found: Figure[] = [
      { ...figure, name: `${store}: ${name}`, unit: "ms", value: median(({ ms }) => ms), limit: mostMs },
      { ...figure, name: `${store}: ${name}, main thread`, unit: "ms", value: median(({ browserMs }) => browserMs) },
      { ...figure, name: `${store}: ${name}, server`, unit: "ms", value: median(({ serverMs }) => serverMs) },
      { ...figure, name: `${store}: ${name}, calls`, unit: "calls", value: median(({ calls }) => calls) },
      { ...figure, name: `${store}: ${name}, slowest call`, unit: "ms", value: median(({ slowestMs }) => slowestMs) },
    ];
    progress(found.map(({ name: title, unit, value }) => `${title} ${value.median.toFixed(0)} ${unit}`).join("; "));
    figures.push(...found);
  }
  return figures;
}

interface Opening {
  /** From the click until the page has been drawn. */
  readonly ms: number;
  /** Work of the browser's main thread, and CPU of the server, meanwhile. */
  readonly browserMs: number;
  readonly serverMs: number;
  readonly calls: number;
  readonly slowestMs: number;
}

async function open(
  page: Page,
  session: CDPSession,
  server: number,
  aim: { readonly path: string; readonly drawn: string },
): Promise<Opening> {
  await page.evaluate(leave);
  const work = await readWork(session);
  const cpu = usage([server]).cpu;
  const shown = await page.evaluate(clickAndWait, aim);
  return {
    ...shown,
    browserMs: (await readWork(session)) - work,
    serverMs: (usage([server]).cpu - cpu) / 1000,
  };
}

async function readWork(session: CDPSession): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
}

/** What the functions below use of the browser in which they run. */
interface InPage {
  readonly document: {
    readonly body: { append(link: Link): void };
    createElement(name: "a"): Link;
    querySelector(selector: string): { readonly textContent: string } | null;
  };
  requestAnimationFrame(next: () => void): void;
}

interface Link {
  href: string;
  click(): void;
  remove(): void;
}

/** Goes to a page that asks for nothing. Runs in the browser. */
async function leave(): Promise<void> {
  const { document, requestAnimationFrame } = globalThis as unknown as InPage;
  const link = Object.assign(document.createElement("a"), { href: "/no-such-page" });
  document.body.append(link);
  link.click();
  link.remove();
  await new Promise<void>((resolve) => {
    const look = () =>
      document.querySelector("main table, main canvas, main form") === null ? resolve() : requestAnimationFrame(look);
    look();
  });
}

/** Clicks on a link to a page and waits until it has been drawn. Runs in the browser. */
async function clickAndWait({ path, drawn }: { path: string; drawn: string }) {
  const { document, requestAnimationFrame } = globalThis as unknown as InPage;
  performance.clearResourceTimings();
  const link = Object.assign(document.createElement("a"), { href: path });
  document.body.append(link);
  const start = performance.now();
  link.click();
  link.remove();
  const isDrawn = () =>
    document.querySelector(`main ${drawn}`) !== null && document.querySelector("main .loading") === null;
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      if (isDrawn()) {
        requestAnimationFrame(resolve);
      } else if (performance.now() - start > 60_000) {
        reject(new Error(`${path} is not drawn: ${document.querySelector("main")?.textContent}`));
      } else {
        requestAnimationFrame(look);
      }
    };
    look();
  });
  const ms = performance.now() - start;
  const calls = performance.getEntriesByType("resource").filter(({ name }) => name.includes("/tollgate."));
  return { ms, calls: calls.length, slowestMs: Math.max(0, ...calls.map(({ duration }) => duration)) };
}
