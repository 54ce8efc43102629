import type { CDPSession, Page } from "playwright-core";
import { openDatabases } from "../ledger/databases.ts";
import { spread } from "../report/statistics.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { openConsole } from "./stage.ts";

/** Pages that somebody opens in an hour who works with the console all the time: one every twelve seconds. */
const openings = { whole: 300, quick: 30 };
/** Milliseconds that a page stays open: as many pages as in an hour, at a faster pace. */
const restMs = 300;
/** Milliseconds that the overview is watched, which draws each second and asks every few: an hour. */
const watchMs = { whole: 3_600_000, quick: 20_000 };
/** A tab may grow by this between the two ends: code that was compiled meanwhile, not what pages leave behind. */
const most = { heap: 2_000_000, nodes: 200, listeners: 50 };

const paths = [
  ...["/overview", "/accounts", "/models", "/usage", "/fleet", "/playground", "/books", "/audit", "/settings"],
  ...["/models/tollgate-sim/plain", "/usage?by=account&period=week", "/keys", "/first-run"],
];

/** A tab that is open for an hour: what stays of each page after it was left. */
export const consoleSoak: Scenario = {
  name: "console-soak",
  shows: "what an hour's pages of the console leave in an open tab: heap, nodes, listeners",
  onlyNamed: true,
  async run({ directory, options, progress }) {
    const databases = await openDatabases("SQLite", directory);
    const stage = await openConsole(await databases.create("soak"), { servers: 2, progress });
    const length = options.quick ? "quick" : "whole";
    try {
      const session = await stage.page.context().newCDPSession(stage.page);
      await walk(stage.page, paths.length * 2, restMs); // all code is there, and compiled
      const before = await weigh(stage.page, session);
      progress(`opening ${openings[length]} pages`);
      await walk(stage.page, openings[length], restMs);
      const after = await weigh(stage.page, session);
      progress("watching the overview");
      await openPage(stage.page, "/overview");
      await stage.page.waitForTimeout(watchMs.quick);
      const begun = await count(stage.page, session);
      await stage.page.waitForTimeout(watchMs[length]);
      const watched = await count(stage.page, session);
      return { figures: [...compare("pages", before, after), ...compare("overview", begun, watched)] };
    } finally {
      await stage.close();
      await databases.stop();
    }
  },
};

/** Goes from page to page by links, and stays on each for a while. */
async function walk(page: Page, count: number, stayMs: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    await openPage(page, paths[at % paths.length] ?? "");
    await page.waitForTimeout(stayMs);
  }
}

async function openPage(page: Page, path: string): Promise<void> {
  await page.evaluate((to) => {
    const { document } = globalThis as unknown as {
      document: { body: { append(link: object): void }; createElement(name: "a"): { click(): void; remove(): void } };
    };
    const link = Object.assign(document.createElement("a"), { href: to });
    document.body.append(link);
    link.click();
    link.remove();
  }, path);
  await page.locator("h1").waitFor();
  await page.locator(".loading").first().waitFor({ state: "detached" });
}

interface Weight {
  /** Bytes of JavaScript's heap. */
  readonly heap: number;
  readonly nodes: number;
  readonly listeners: number;
}

/** What a tab holds at the page of settings, once everything has been collected that can be. */
async function weigh(page: Page, session: CDPSession): Promise<Weight> {
  await openPage(page, "/settings");
  return count(page, session);
}

/** What a tab holds at the page at which it stands. */
async function count(page: Page, session: CDPSession): Promise<Weight> {
  for (let times = 0; times < 3; times++) {
    await session.send("HeapProfiler.collectGarbage");
    await page.waitForTimeout(500);
  }
  const { usedSize: heap } = await session.send("Runtime.getHeapUsage");
  const { nodes, jsEventListeners: listeners } = await session.send("Memory.getDOMCounters");
  return { heap, nodes, listeners };
}

function compare(what: string, before: Weight, after: Weight): Figure[] {
  const figure = { scenario: "console-soak", better: "lower" } as const;
  return (["heap", "nodes", "listeners"] as const).flatMap((name) => [
    { ...figure, name: `${what}: ${name} at first`, unit: name === "heap" ? "B" : "", value: spread([before[name]]) },
    {
      ...{ ...figure, name: `${what}: ${name} more at the end`, unit: name === "heap" ? "B" : "" },
      ...{ value: spread([after[name] - before[name]]), limit: most[name] },
    },
  ]);
}
