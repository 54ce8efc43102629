import type { Stage } from "../stage/stage.ts";

/** Takes the connection from an open page and gives it back, twice. Returns what the page did, step by step. */
export async function loseConnection(stage: Stage): Promise<readonly string[]> {
  const { context, page } = await stage.visit();
  const steps: string[] = [];
  await page.goto(await stage.makeLink("reader"));
  await page.goto("/fleet");
  await page.getByText("5 servers").waitFor();
  await context.setOffline(true);
  await page.getByText("The connection to Tollgate is lost").waitFor();
  if ((await page.getByText("5 servers").count()) === 1) {
    steps.push("said");
  }
  await page.getByRole("button", { name: "Sign out" }).click();
  await context.setOffline(false);
  await page.getByText("The connection to Tollgate is lost").waitFor({ state: "detached" });
  steps.push("mended");
  // A page that was never opened before waits for its code.
  await context.setOffline(true);
  await page.getByRole("link", { name: "Books" }).click();
  await page.getByText("The connection to Tollgate is lost").waitFor();
  await context.setOffline(false);
  await page.getByRole("heading", { level: 1, name: "Books" }).waitFor();
  steps.push("loaded");
  await page.goto("/fleet");
  await page.getByText("5 servers").waitFor();
  // Nor is anybody signed out whom the server refuses to hear.
  await page.route("**/session", (route) => route.fulfill({ status: 429 }));
  await Promise.all([page.waitForResponse("**/session"), page.getByRole("button", { name: "Sign out" }).click()]);
  await page.unroute("**/session");
  await page.getByRole("link", { name: "Models" }).click();
  await page.getByRole("heading", { level: 1, name: "Models" }).waitFor();
  steps.push("signed in");
  await page.goto("/fleet");
  // Who opens a page meanwhile is not taken for signed out.
  for (const answer of [undefined, { status: 429 }, { status: 503 }]) {
    await page.route("**/session", (route) => (answer === undefined ? route.abort() : route.fulfill(answer)));
    await page.reload();
    await page.getByRole("heading", { name: "Tollgate cannot be reached" }).waitFor();
    steps.push("waited");
    await page.unroute("**/session");
    await page.getByText("5 servers").waitFor();
    steps.push("open");
  }
  await context.close();
  return steps;
}
