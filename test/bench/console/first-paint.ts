import type { BrowserContext, Page } from "playwright-core";
import { percentiles, spread } from "../report/statistics.ts";
import type { Figure } from "../scenario.ts";
import type { ConsoleStage } from "./stage.ts";

/** From the address to the first paint on loopback, on a machine that has nothing else to do. */
const mostMs = 200;
/** Bytes of bodies over the wire until a cold overview stands. */
const mostBytes = 150_000;
const rounds = 7;

interface Opening {
  readonly ms: number;
  readonly bytes: number;
}

/** Opens the overview by its address: with an empty cache, each time in a browser context of its own, and again with a full one. */
export async function measureFirstPaint(stage: ConsoleStage, store: string): Promise<Figure[]> {
  const state = await stage.page.context().storageState();
  const cold: Opening[] = [];
  const warm: Opening[] = [];
  for (let round = 0; round <= rounds; round++) {
    const context = await stage.browser.newContext({ locale: "en-US", storageState: state, baseURL: stage.origin });
    const found = [await open(context), await open(context)] as const;
    await context.close();
    // The first round starts the browser's process and compiles what the server answers with.
    if (round > 0) {
      cold.push(found[0]);
      warm.push(found[1]);
    }
  }
  const figure = { scenario: "console", better: "lower" } as const;
  const median = (openings: readonly Opening[], read: (opening: Opening) => number) =>
    spread([percentiles(openings.map(read)).p50]);
  const paint = (name: string, openings: readonly Opening[]): Figure => ({
    ...{ ...figure, name: `${store}: first paint, ${name}`, unit: "ms", limit: mostMs },
    value: median(openings, ({ ms }) => ms),
  });
  return [
    paint("empty cache", cold),
    paint("full cache", warm),
    {
      ...{ ...figure, name: `${store}: weight of the overview, empty cache`, unit: "B", limit: mostBytes },
      value: median(cold, ({ bytes }) => bytes),
    },
  ];
}

async function open(context: BrowserContext): Promise<Opening> {
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    if (request.method() === "GET") {
      sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    }
  });
  await page.goto("/overview");
  await page.getByText("Tokens a second").first().waitFor();
  const ms = await readFirstPaint(page);
  const bytes = (await Promise.all(sizes)).reduce((all, size) => all + size, 0);
  await page.close();
  return { ms, bytes };
}

/** Milliseconds from the beginning of the navigation until something of the page was drawn. Waits until it is. */
export async function readFirstPaint(page: Page): Promise<number> {
  const painted = await page.waitForFunction(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  );
  return (await painted.jsonValue()) as number;
}
