import type { Page } from "playwright-core";
import { eventually } from "../../support/eventually.ts";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "./identity-life.ts";

interface Life {
  /** What is said in a tab that did not hear of the other account, by what was tried there. */
  readonly refused: Readonly<Record<string, string>>;
  /** The other account afterwards. */
  readonly kept: { readonly isOpen: boolean; readonly name: string; readonly members: number; readonly keys: number };
  /** Whether the tab that heard of it shows the other account, without having been touched. */
  readonly isShown: boolean;
  /** The keys that a tab shows which heard of it while it showed the secret of a new one, before and after that was closed. */
  readonly held: readonly (readonly string[])[];
  /** Where the first of both gets once another one signs out, and once somebody else signs in there. */
  readonly followed: readonly string[];
}

interface Account {
  readonly id: string;
  readonly name: string;
  readonly frozen: boolean;
}

/** A person has an account open in two tabs and comes into another one in a third, which then signs out. */
export async function openTabs(stage: Stage): Promise<Life> {
  const { tollgate } = stage;
  const { id } = (await tollgate.admin("accounts", "create", "--name", "Other")) as Account;
  const invite = ["accounts", "invite", id, "--role", "owner", "--url", stage.origin];
  const { url } = (await tollgate.admin(...invite)) as { url: string };
  const { context, page: third } = await stage.visit();
  await third.goto("/sign-in");
  await continueWithProvider(third, "tess");
  await third.waitForURL("**/overview");
  const [deaf, hearing, holding] = [await context.newPage(), await context.newPage(), await context.newPage()];
  await deaf.addInitScript("globalThis.BroadcastChannel = class extends EventTarget { postMessage() {} }");
  for (const page of [deaf, hearing]) {
    page.setDefaultTimeout(20_000);
    await page.goto("/people");
    await page.getByRole("button", { name: "Close account" }).waitFor();
  }
  holding.setDefaultTimeout(20_000);
  await holding.goto("/keys");
  await holding.getByRole("button", { name: "Create key" }).click();
  await holding.getByLabel("Name").first().fill("held");
  await holding.getByRole("button", { name: "Create", exact: true }).click();
  await holding.getByRole("dialog").locator("code").waitFor();
  await third.goto(url);
  await third.getByRole("button", { name: "Accept the invitation" }).click();
  await third.waitForURL("**/overview");
  const refused = await tryAll(deaf);
  await deaf.close();
  const account = (await tollgate.admin("accounts", "show", id)) as Account;
  const members = (await tollgate.admin("accounts", "members", id)) as readonly object[];
  const keys = (await tollgate.admin("keys", "list", id)) as readonly object[];
  await hearing.getByRole("main").getByText(id).waitFor();
  const isShown = new URL(hearing.url()).pathname === "/people";
  const names = holding.getByRole("table").getByRole("rowheader");
  const before = await names.allTextContents();
  await holding.getByRole("dialog").getByRole("button", { name: "Done" }).click();
  await holding.getByText("There is no key yet").waitFor();
  const held = [before, await names.allTextContents()];

  await third.getByRole("button", { name: "Sign out" }).click();
  await hearing.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  const followed = [new URL(hearing.url()).pathname];
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  await third.getByLabel("API key").fill(key);
  await third.getByRole("button", { name: "Sign in" }).click();
  await hearing.getByRole("navigation", { name: "Main" }).waitFor();
  followed.push(await eventually("a page that a key may see", () => readInside(hearing)));
  await context.close();
  const kept = { isOpen: !account.frozen, name: account.name, members: members.length, keys: keys.length };
  return { refused, kept, isShown, held, followed };
}

/** Tries what changes an account, and to read its usage. Returns what is said each time. */
async function tryAll(page: Page): Promise<Readonly<Record<string, string>>> {
  const said: Record<string, string> = {};
  const dialog = page.getByRole("dialog");
  const tryOne = async (opener: string, verb: string, fill?: () => Promise<void>) => {
    await page.getByRole("button", { name: opener, exact: true }).click();
    await fill?.();
    await dialog.getByRole("button", { name: verb, exact: true }).click();
    said[opener] = (await dialog.getByRole("alert").getByRole("paragraph").textContent()) ?? "";
    await dialog.getByRole("button", { name: "Cancel" }).click();
  };
  await tryOne("Close account", "Close the account");
  await tryOne("Rename", "Rename", () => dialog.getByLabel("Name").fill("Mine"));
  await tryOne("Low balance", "Save", () => dialog.getByLabel("Low below").fill("3"));
  await tryOne("Invite", "Invite");
  await tryOne("Leave account", "Leave the account");
  const menu = page.getByRole("navigation", { name: "Main" });
  await menu.getByRole("link", { name: "Keys" }).click();
  await tryOne("Create key", "Create", () => dialog.getByLabel("Name").first().fill("mine"));
  await menu.getByRole("link", { name: "Playground" }).click();
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const alert = page.getByRole("main").getByRole("alert").first();
  said.Playground = (await alert.textContent()) ?? "";
  await menu.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("heading", { level: 1, name: "Usage" }).waitFor();
  said.Usage = (await alert.textContent()) ?? "";
  return said;
}

/** The path of a page within the console. Undefined: the sign-in page. */
function readInside(page: Page): string | undefined {
  const { pathname } = new URL(page.url());
  return pathname === "/sign-in" ? undefined : pathname;
}
