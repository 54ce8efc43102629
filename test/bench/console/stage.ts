import type { Browser, Page } from "playwright-core";
import { openStorage } from "#src/storage/orm/open-storage.ts";
import { buildConsole } from "../../../scripts/console/build.ts";
import { startChromium } from "../../../scripts/test-services/chromium.ts";
import { defaultFleetConfig, defaultModels, startDefaultFleet } from "../../../simulator/fleet.ts";
import { createSite, freePorts, startTollgate, type Tollgate } from "../../support/tollgate.ts";
import { coreSecrets } from "../core-secrets.ts";
import { fill, type Size } from "./fill.ts";

/** A console in a browser, before a database and a fleet of some size. */
export interface ConsoleStage {
  readonly tollgate: Tollgate;
  readonly browser: Browser;
  /** http://host:port of the console. */
  readonly origin: string;
  /** A page of an operator who has signed in, at the overview. */
  readonly page: Page;
  close(): Promise<void>;
}

/** To fill a database takes statements that run for minutes. */
const patience = { connectMs: 10_000, answerMs: 900_000 };

/**
 * Starts one, with so many servers of each model of the default fleet, as it is built of the sources now. The database is made
 * once, and filled if a size is given.
 */
export async function openConsole(
  url: string,
  { servers, size, progress }: { servers: number; size?: Size; progress: (line: string) => void },
): Promise<ConsoleStage> {
  await buildConsole();
  const fleets = await Promise.all(Array.from({ length: servers }, () => startDefaultFleet()));
  const site = await createSite({ ...coreSecrets, TOLLGATE_STORAGE_URL: url });
  const listen = { ...freePorts.listen, console: "127.0.0.1:0" };
  const config = await site.configure({ listen, models: defaultFleetConfig(fleets.flat()) });
  const start = () => startTollgate(site, "serve", "--config", config);
  if (size !== undefined) {
    progress("filling the database");
    await (await start()).stop();
    const storage = await openStorage(url, patience);
    await fill(
      storage,
      size,
      defaultModels.filter((model) => !("kind" in model)).map(({ id }) => id),
    );
    await storage.close();
  }
  const [tollgate, browser] = await Promise.all([start(), startChromium()]);
  const origin = `http://${tollgate.addresses.console}`;
  const context = await browser.newContext({ locale: "en-US", baseURL: origin });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const link = (await tollgate.admin("console-link", "--url", origin)) as { url: string };
  await page.goto(link.url);
  await page.waitForURL("**/overview");
  await page.getByRole("navigation").first().waitFor();
  return {
    tollgate,
    browser,
    origin,
    page,
    async close() {
      await browser.close();
      await tollgate.stop();
      await Promise.all(fleets.flat().map((simulator) => simulator.close()));
      await site.remove();
    },
  };
}
