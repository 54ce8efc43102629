import type { Stage } from "../stage/stage.ts";

interface Pointed {
  /** Plots that tell the time and their values while the pointer is over the first. */
  readonly tips: number;
  /** Whether all tell the same time. */
  readonly isOneTime: boolean;
  /** The range of the address after another was chosen. */
  readonly range: string | null;
  /** The headings of the tables that tell who. */
  readonly who: readonly string[];
}

/** Points at a plot of the last hour, and chooses a day. */
export async function pointAtPlots(stage: Stage): Promise<Pointed> {
  const { context, page } = await stage.visit();
  await page.goto(await stage.makeLink("reader"));
  await page.waitForURL("**/overview");
  await page.goto("/overview?range=hour");
  await page.getByRole("button", { name: "1 h", pressed: true }).waitFor();
  await page.locator(".u-over").nth(3).waitFor();
  await page
    .locator(".u-over")
    .first()
    .hover({ position: { x: 120, y: 40 } });
  await page.locator(".plot-tip").nth(3).waitFor();
  const times = await page.locator(".plot-tip > span:first-child").allTextContents();
  await page.getByRole("button", { name: "24 h" }).click();
  await page.waitForURL("**/overview?range=day");
  const range = new URL(page.url()).searchParams.get("range");
  await page.reload(); // whoever is sent the address sees the same
  const headings = page.getByRole("heading", { level: 2, name: ", 24 h" });
  await headings.nth(1).waitFor();
  const who = await headings.allTextContents();
  await context.close();
  return { tips: times.length, isOneTime: new Set(times).size === 1, range, who };
}
