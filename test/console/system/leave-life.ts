import type { Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "./identity-life.ts";

interface Life {
  /** What the only owner is told who wants to leave. */
  readonly refused: string;
  /** Where the member gets by leaving, and what is said there. */
  readonly left: readonly [path: string, said: string];
  /** The number of sentences that the next one who signs out at that browser is told. */
  readonly next: number;
  /** The accounts that the member's console lists, before leaving and after signing in again. */
  readonly accounts: readonly (readonly string[])[];
  /** The people whom the owner's console lists, before and after. */
  readonly members: readonly (readonly string[])[];
  /** The owner's role in the account, after all of that. */
  readonly owner: string;
}

/** An owner invites somebody and does not get out of the account; who was invited leaves it. */
export async function leaveAccount(stage: Stage): Promise<Life> {
  const owner = await signUp(stage, "ruth");
  const refused = await refuseOwner(owner.page);
  const link = await invite(owner.page);
  const member = await signUp(stage, "naomi");
  const { page } = member;
  await page.goto(link);
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.waitForURL("**/overview");
  const before = { accounts: await readNames(page, "Your accounts"), members: await readNames(owner.page, "Members") };
  await page.getByRole("button", { name: "Leave account" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Leave the account" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  const said = (await page.getByRole("status").textContent()) ?? "";
  const left = [new URL(page.url()).pathname, said] as const;
  const next = await comeAndGo(stage, page);
  await page.getByRole("link", { name: "Continue with" }).click();
  await page.locator("[type=submit]").click(); // the provider knows this browser
  await page.waitForURL("**/overview");
  const after = { accounts: await readNames(page, "Your accounts"), members: await readNames(owner.page, "Members") };
  const own = owner.page.getByRole("table", { name: "Members" }).getByRole("row", { name: /\(you\)/ });
  const role = (await own.getByRole("cell", { name: "Owner", exact: true }).textContent()) ?? "";
  await Promise.all([owner.context.close(), member.context.close()]);
  return {
    refused,
    left,
    next,
    accounts: [before.accounts, after.accounts],
    members: [before.members, after.members],
    owner: role,
  };
}

/** Somebody new, who gets an account of that name. */
async function signUp(stage: Stage, name: string) {
  const visitor = await stage.visit();
  await visitor.page.goto("/sign-in");
  await continueWithProvider(visitor.page, name);
  await visitor.page.waitForURL("**/overview");
  return visitor;
}

/** Tries to leave as the only owner. Returns what is said. */
async function refuseOwner(page: Page): Promise<string> {
  await page.goto("/people");
  await page.getByRole("button", { name: "Leave account" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Leave the account" }).click();
  const said = (await dialog.getByRole("alert").getByRole("paragraph").textContent()) ?? "";
  await dialog.getByRole("button", { name: "Cancel" }).click();
  return said;
}

/** Signs in with a key and out again, without loading the page anew. Returns how many sentences are said then. */
async function comeAndGo({ tollgate }: Stage, page: Page): Promise<number> {
  const { id } = (await tollgate.admin("accounts", "create", "--name", "Next")) as { id: string };
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  return page.getByRole("status").count();
}

/** Invites a developer. Returns the link. */
async function invite(page: Page): Promise<string> {
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  return (await page.getByRole("dialog").locator("code").textContent()) ?? "";
}

/** The names in a table of the page People. */
async function readNames(page: Page, table: string): Promise<readonly string[]> {
  await page.goto("/people");
  await page.getByRole("table", { name: "Members" }).waitFor();
  await page.waitForLoadState("networkidle"); // a table that is not there is not to be waited for
  const names = await page.getByRole("table", { name: table }).getByRole("rowheader").allTextContents();
  return names.map((name) => name.replace(" (you)", "")).toSorted();
}
