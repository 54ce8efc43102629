import type { Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "../system/identity-life.ts";

/** Pages of operators and those that only people with an account have, each with its heading. */
const pages: Readonly<Record<"operator" | "member", readonly (readonly [path: string, heading: string])[]>> = {
  operator: [
    ["/overview", "Overview"],
    ["/accounts", "Accounts"],
    ["/accounts/ID", "Far away"],
    ["/models", "Models"],
    ["/models/tollgate-sim/plain", "tollgate-sim/plain"],
    ["/fleet", "Fleet"],
    ["/books", "Books"],
    ["/usage", "Usage"],
    ["/margin", "Margin"],
    ["/playground", "Playground"],
    ["/audit", "Audit"],
    ["/settings", "Settings"],
    ["/first-run", "First steps"],
    ["/receipts/none", "Receipt"],
    ["/requests", "Requests"],
    ["/requests/none", "Request"],
    ["/keys", "Keys"],
  ],
  member: [
    ["/money", "Money"],
    ["/people", "People"],
    ["/invitation/tgin_none", "Invitation"],
  ],
};

const atOnce = 4;

/**
 * Opens every page for the first time while nothing answers, and again after an upgrade has taken its code away. Returns
 * what did not recover by itself, in words.
 */
export async function openFirst(stage: Stage): Promise<readonly string[]> {
  const { id } = (await stage.tollgate.admin("accounts", "create", "--name", "Far away")) as { id: string };
  const operator = await stage.visit();
  await operator.page.goto(await stage.makeLink());
  await operator.page.getByRole("navigation", { name: "Main" }).waitFor();
  const member = await stage.visit();
  await member.page.goto("/sign-in");
  await continueWithProvider(member.page, "far-away");
  await member.page.waitForURL("**/overview");
  const signedIn = {
    operator: await operator.context.storageState(),
    member: await member.context.storageState(),
  };
  await Promise.all([operator.context.close(), member.context.close()]);
  const waiting = (["operator", "member"] as const).flatMap((who) =>
    pages[who].map(([path, heading]) => ({ who, path: path.replace("ID", id), heading })),
  );
  const faults: string[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { who, path, heading } = next;
      const { context, page } = await stage.visit({ storageState: signedIn[who] });
      for (const [when, open] of [
        ["while nothing answered", openCutOff],
        ["after an upgrade", openUpgraded],
      ] as const) {
        await open(page, path, heading).catch((error: Error) => {
          faults.push(`${path}, first opened ${when}: ${error.message.split("\n", 1)[0]}`);
        });
      }
      await context.close();
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return faults;
}

async function openCutOff(page: Page, path: string, heading: string): Promise<void> {
  await begin(page, path);
  await page.context().setOffline(true);
  try {
    await follow(page, path);
    await page.getByText("The connection to Tollgate is lost").waitFor();
  } finally {
    await page.context().setOffline(false);
  }
  await isWhole(page, heading);
}

async function openUpgraded(page: Page, path: string, heading: string): Promise<void> {
  await begin(page, path);
  let isGone = true;
  await page.route("**/assets/**", (route) => (isGone ? route.fulfill({ status: 404 }) : route.continue()));
  page.once("framenavigated", () => {
    // The link has changed the address alone: the next time it is the document, which has the new names.
    page.once("framenavigated", () => {
      isGone = false;
    });
  });
  await follow(page, path);
  await isWhole(page, heading);
  await page.unroute("**/assets/**");
}

/** Opens another page than the one that is meant. */
async function begin(page: Page, path: string): Promise<void> {
  await page.goto(path === "/overview" ? "/models" : "/overview");
  await page.getByRole("heading", { level: 1 }).waitFor();
}

/** Goes to a page by a link. */
async function follow(page: Page, path: string): Promise<void> {
  const link = page.getByRole("navigation", { name: "Main" }).getByRole("link").first();
  await link.evaluate((element, to) => {
    element.setAttribute("href", to);
    (element as unknown as { click(): void }).click();
  }, path);
}

/** Waits until a page shows what it is for. */
async function isWhole(page: Page, heading: string): Promise<void> {
  await page.getByRole("heading", { level: 1, name: heading, exact: true }).waitFor();
  await page.locator(".loading").first().waitFor({ state: "detached" });
  await page.getByText("The connection to Tollgate is lost").waitFor({ state: "detached" });
}
