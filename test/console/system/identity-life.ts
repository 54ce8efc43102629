import type { Page } from "playwright-core";
import { readAmount, type Stage } from "../stage/stage.ts";

interface Life {
  /** What the new account had, at the first and at the second sign-in. */
  readonly balances: readonly bigint[];
  /** Accounts of this name, after both. */
  readonly accounts: number;
  /** The roles of the account's members after a colleague has used an invitation. */
  readonly roles: readonly string[];
  /** Names of the keys that the owner has made. */
  readonly keys: readonly string[];
  /** What the colleague's menu offers. */
  readonly menu: readonly string[];
  /** What somebody is told who comes with an answer that no browser here asked for. */
  readonly forged: number;
}

const person = "ada";

/** Signs in with a provider of identities, twice, and with an answer that belongs to nobody. */
export async function liveWithIdentity(stage: Stage): Promise<Life> {
  const { context, page } = await stage.visit();
  await signIn(page);
  const first = await readAmount(page, "balance");
  await page.getByRole("button", { name: "Sign out" }).click();
  // The provider knows the browser by now, and asks a program of the same machine for consent each time.
  await page.getByRole("link", { name: "Continue with" }).click();
  await page.locator("[type=submit]").click();
  await page.waitForURL("**/overview");
  await page.locator('[data-name="balance"]').waitFor();
  const second = await readAmount(page, "balance");
  await page.goto("/keys");
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByLabel("Name").fill("laptop");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("dialog").locator("code").waitFor();
  const menu = await useInvitation(stage, await invite(page));
  const answer = await page.request.get("/sign-in/oidc/callback?code=stolen&state=none");
  await context.close();
  const accounts = (await stage.tollgate.admin("accounts", "list")) as { id: string; name: string }[];
  const accountId = accounts.find(({ name }) => name === person)?.id ?? "";
  const members = (await stage.tollgate.admin("accounts", "members", accountId)) as { role: string }[];
  const keys = (await stage.tollgate.admin("keys", "list", accountId)) as { name: string }[];
  return {
    balances: [first, second],
    accounts: accounts.filter(({ name }) => name === person).length,
    forged: answer.status(),
    roles: members.map(({ role }) => role),
    keys: keys.map(({ name }) => name),
    menu,
  };
}

/** Invites a viewer, and returns the path of the link. */
async function invite(page: Page): Promise<string> {
  await page.goto("/people");
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByLabel("Role").selectOption({ label: "Viewer: sees everything" });
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  const link = await page.getByRole("dialog").locator("code").textContent();
  await page.getByRole("button", { name: "Done" }).click();
  return new URL(link ?? "").pathname;
}

/** Follows the link as somebody who signs in for its sake. */
async function useInvitation(stage: Stage, path: string): Promise<string[]> {
  const { context, page } = await stage.visit();
  await page.goto(path);
  await continueWithProvider(page, "grace");
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.waitForURL("**/overview");
  const entries = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  await page.locator('[data-name="balance"]').waitFor();
  const menu = await entries.allTextContents();
  await context.close();
  return menu.map((entry) => entry.trim());
}

async function signIn(page: Page): Promise<void> {
  await page.goto("/sign-in");
  await continueWithProvider(page, person);
  await page.waitForURL("**/overview");
  await page.locator('[data-name="balance"]').waitFor();
}

/** Signs in with the provider as somebody whom it does not know yet. */
export async function continueWithProvider(page: Page, name: string): Promise<void> {
  await page.getByRole("link", { name: "Continue with Test identities" }).click();
  await page.locator("[name=login]").fill(name);
  await page.locator("[name=password]").fill("any");
  await page.locator("[type=submit]").click();
  // The provider asks whether the service may know who it is.
  await page.locator("[type=submit]").click();
}
