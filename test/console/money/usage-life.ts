import type { Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";

interface Looked {
  /** The columns of the table of two groupings. */
  readonly columns: readonly string[];
  /** What narrows the page after a row was looked into, and after its day was. */
  readonly narrowed: readonly (readonly string[])[];
  /** The sums of a label's values, and what narrows the page after one of them was looked into. */
  readonly byLabel: readonly string[];
  /** Whether the receipts behind the last sum are shown, and whether the sum stayed. */
  readonly isSame: boolean;
  /** The names of the plots of the margin. */
  readonly plots: readonly string[];
}

/** Looks into a model's usage and one day of it, then at the margin. Needs that something was used. */
export async function lookIntoUsage(stage: Stage): Promise<Looked> {
  const { context, page } = await stage.visit();
  await page.goto(await stage.makeLink("reader"));
  await page.waitForURL("**/overview");
  await page.goto("/usage?period=week");
  await page.getByLabel("And by").selectOption({ label: "Day" });
  await page.waitForURL("**and=day");
  const table = page.getByRole("region", { name: "Usage by model and day" });
  await table.waitFor();
  const columns = await table.getByRole("columnheader").allTextContents();
  await table.getByRole("link", { name: "tollgate-sim/plain" }).first().click();
  const narrowed = [await readNarrowed(page)];
  const days = page.getByRole("region", { name: "Usage by account and day" });
  await days.waitFor(); // until then the sum is that of the page before
  const cost = await readCost(page);
  await days.locator("td a").first().click();
  narrowed.push(await readNarrowed(page));
  await page.getByRole("region", { name: "Receipts" }).getByRole("link").first().waitFor();
  const isSame = (await readCost(page)) === cost;
  await page.reload(); // whoever is sent the address sees the same
  narrowed.push(await readNarrowed(page));
  const byLabel = await lookIntoLabel(page);
  await page.goto("/margin?period=day");
  await page.getByRole("region", { name: "Margin by model" }).waitFor();
  await page.locator(".plot .u-over").first().waitFor();
  const plots = await page.locator(".plot-title").allTextContents();
  await context.close();
  return { columns, narrowed, byLabel, isSame, plots };
}

/** Groups by a label, which no request had, and looks into the requests without it. */
async function lookIntoLabel(page: Page): Promise<readonly string[]> {
  await page.goto("/usage?period=week");
  await page.getByLabel("By", { exact: true }).selectOption({ label: "Label app" });
  const table = page.getByRole("region", { name: "Usage by label app" });
  await table.getByRole("link", { name: "without it" }).waitFor();
  const values = await table.locator("tbody th").allTextContents();
  await table.getByRole("link", { name: "without it" }).click();
  await page.getByRole("region", { name: "Usage by model" }).waitFor();
  await page.getByRole("region", { name: "Receipts" }).getByRole("link").first().waitFor();
  return [...values, ...(await readNarrowed(page))];
}

/** The parts of the address that narrow the figures. */
async function readNarrowed(page: Page): Promise<readonly string[]> {
  await page.locator(".narrowed").waitFor();
  const names = [...new URL(page.url()).searchParams.keys()];
  return names.filter((name) => ["account", "key", "model", "label", "from", "to"].includes(name)).sort();
}

async function readCost(page: Page): Promise<string | null> {
  await page.locator('tfoot [data-name="total"]').waitFor();
  return page.locator('tfoot [data-name="total"]').getAttribute("data-pico-usd");
}
