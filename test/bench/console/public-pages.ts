import type { Browser } from "playwright-core";
import { startChromium } from "../../../scripts/test-services/chromium.ts";
import { createSite, freePorts, startTollgate } from "../../support/tollgate.ts";
import { percentiles, spread } from "../report/statistics.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { readFirstPaint } from "./first-paint.ts";

/** From the address to the first paint on loopback, with an empty cache. */
const mostMs = 1000;
const mostBytes = 150_000;
const rounds = 7;
const pages = [
  { name: "first page", listener: "http", path: "/" },
  { name: "a model", listener: "http", path: "/models/maker/model-1" },
  { name: "status", listener: "http", path: "/status" },
  { name: "sign-in", listener: "console", path: "/sign-in" },
] as const;
const models = Array.from({ length: 100 }, (_, index) => ({
  id: `maker/model-${index}`,
  card: { description: `The model number ${index}, which writes.`, quantization: "fp8", licence: "MIT" },
  servers: [{ url: "http://127.0.0.1:1", engine: "vllm" }],
}));

/** The public pages of a hundred models, as a stranger's browser gets them. */
export const publicPages: Scenario = {
  name: "pages",
  shows: "first paint and weight of each page that a stranger sees, with 100 models, empty cache",
  onlyNamed: true,
  async run({ progress }) {
    const site = await createSite();
    const listen = { ...freePorts.listen, console: "127.0.0.1:0" };
    const config = await site.configure({ listen, models });
    const [tollgate, browser] = await Promise.all([startTollgate(site, "serve", "--config", config), startChromium()]);
    try {
      const figures: Figure[] = [];
      for (const { name, listener, path } of pages) {
        const openings: Opening[] = [];
        for (let round = 0; round <= rounds; round++) {
          openings.push(await open(browser, `http://${tollgate.addresses[listener]}${path}`));
        }
        openings.shift(); // the first one starts the browser's process
        const median = (read: (opening: Opening) => number) => spread([percentiles(openings.map(read)).p50]);
        const figure = { scenario: "pages", better: "lower" } as const;
        figures.push(
          { ...figure, name: `${name}, first paint`, unit: "ms", value: median(({ ms }) => ms), limit: mostMs },
          { ...figure, name: `${name}, weight`, unit: "B", value: median(({ bytes }) => bytes), limit: mostBytes },
        );
        progress(
          `${name}: ${figures
            .slice(-2)
            .map(({ unit, value }) => `${value.median.toFixed(0)} ${unit}`)
            .join(", ")}`,
        );
      }
      return { figures };
    } finally {
      await browser.close();
      await tollgate.stop();
      await site.remove();
    }
  },
};

interface Opening {
  readonly ms: number;
  /** Bytes of bodies over the wire. */
  readonly bytes: number;
}

/** Opens a page in a browser that has never been there. */
async function open(browser: Browser, url: string): Promise<Opening> {
  const context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(url);
  await page.locator("h1").waitFor();
  const ms = await readFirstPaint(page);
  const bytes = (await Promise.all(sizes)).reduce((all, size) => all + size, 0);
  await context.close();
  return { ms, bytes };
}
