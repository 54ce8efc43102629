import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "./identity-life.ts";

/** What an account's mail depends on. */
interface Choice {
  readonly low_balance_usd: string | null;
  readonly email: string | null;
}

/** An owner says from when on the balance is low and where mail goes, and takes it back. Returns the account after both. */
export async function chooseLowBalance(stage: Stage): Promise<readonly Choice[]> {
  const { context, page } = await stage.visit({ viewport: { width: 360, height: 740 } });
  await page.goto("/sign-in");
  await continueWithProvider(page, "lowell");
  await page.waitForURL("**/overview");
  const chosen: Choice[] = [];
  for (const [low, email] of [
    ["2.50", "bills@example.com"],
    ["", ""],
  ] as const) {
    await page.goto("/people");
    await page.getByRole("button", { name: "Low balance" }).click();
    await page.getByLabel("Low below").fill(low);
    await page.getByLabel("E-mail of the account").fill(email);
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    await page.getByText("The account is saved.").waitFor();
    const accounts = (await stage.tollgate.admin("accounts", "list")) as { id: string; name: string }[];
    const { id = "" } = accounts.find(({ name }) => name === "lowell") ?? {};
    chosen.push((await stage.tollgate.admin("accounts", "show", id)) as Choice);
  }
  await context.close();
  return chosen;
}
