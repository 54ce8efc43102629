import type { Page } from "playwright-core";
import { readAmount, type Stage } from "./stage.ts";

interface Life {
  /** What the new account had, at the first and at the second sign-in. */
  readonly balances: readonly bigint[];
  /** Accounts of this name, after both. */
  readonly accounts: number;
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
  const answer = await page.request.get("/sign-in/oidc/callback?code=stolen&state=none");
  await context.close();
  const accounts = (await stage.tollgate.admin("accounts", "list")) as { name: string }[];
  return {
    balances: [first, second],
    accounts: accounts.filter(({ name }) => name === person).length,
    forged: answer.status(),
  };
}

async function signIn(page: Page): Promise<void> {
  await page.goto("/sign-in");
  await page.getByRole("link", { name: "Continue with Test identities" }).click();
  await page.locator("[name=login]").fill(person);
  await page.locator("[name=password]").fill("any");
  await page.locator("[type=submit]").click();
  // The provider asks whether the service may know who it is.
  await page.locator("[type=submit]").click();
  await page.waitForURL("**/overview");
  await page.locator('[data-name="balance"]').waitFor();
}
