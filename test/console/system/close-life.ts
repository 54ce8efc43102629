import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "./identity-life.ts";

interface Life {
  /** What is said after each failure: what happened, what is done, and what is left. */
  readonly failures: readonly (readonly string[])[];
  /** What is said once it is closed. */
  readonly farewell: string;
}

/** Closes an account with money in it, for which the provider first does not answer, and then refuses to pay it back. */
export async function closeInSteps(stage: Stage): Promise<Life> {
  const { state, faults, events, bank } = stage.stripe;
  const { context, page } = await stage.visit();
  await page.goto("/sign-in");
  await continueWithProvider(page, "omri");
  await page.waitForURL("**/overview");
  await page.goto("/money");
  await page.getByRole("button", { name: "Buy credit" }).click();
  await page.getByRole("button", { name: "Continue to payment" }).click();
  await page.getByRole("button", { name: "Pay", exact: true }).click();
  await page.getByText("25.00 USD added.").waitFor();
  const intent = [...state.intents.keys()].at(-1) ?? "";

  const failures: string[][] = [];
  const dialog = page.getByRole("dialog");
  const press = async (name: string) => {
    await dialog.getByRole("button", { name, exact: true }).click();
    await dialog.locator("[aria-busy=true]").waitFor({ state: "detached" });
    const said = await dialog.getByRole("alert").textContent();
    failures.push([said ?? "", ...(await dialog.locator("form > p").allTextContents())]);
  };
  await page.goto("/people");
  await page.getByRole("button", { name: "Close account" }).click();
  events.faults.lose = true;
  Object.assign(faults, { failing: Number.POSITIVE_INFINITY, path: "/v1/refunds" });
  await press("Close the account");
  // Meanwhile somebody paid it back in the provider's dashboard, of which nobody has told.
  const { id } = bank.refund(intent, undefined);
  Object.assign(faults, { failing: 0, path: undefined });
  await press("Go on");
  bank.failRefund(id);
  await dialog.getByRole("button", { name: "Go on" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  const farewell = (await page.getByRole("status").textContent()) ?? "";
  events.faults.lose = false;
  await context.close();
  return { failures, farewell };
}
