import axe from "axe-core";
import type { Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "../system/identity-life.ts";
import { judge, longWord } from "./judge.ts";

/** Pages, and the buttons on them that open a dialog. */
type Dialogs = readonly (readonly [path: string, ...buttons: (string | RegExp)[]])[];

const ofOperators: Dialogs = [
  ["/accounts/ID", "Freeze", "Set limits", "Refund", "Grant", "Top up"],
  ["/accounts/ID?tab=payments", "Own prices", "Statement"],
  ["/accounts", "Create account"],
  ["/models/tollgate-sim/plain", "Set price"],
  ["/keys?account=ID", /^Limits/, /^Rotate/],
  ["/audit", "Show"],
  ["/overview", /^Find/],
];
const ofMembers: Dialogs = [
  ["/people", "Rename", "Low balance", "Close account", "Leave account"],
  ["/money", "Buy credit"],
  ["/keys", "Create key"],
  ["/overview", /^Find/],
];

/** Looks at the dialogs of operators and of people with an account, in both themes and widths. Returns what is wrong. */
export async function judgeDialogs(stage: Stage): Promise<readonly string[]> {
  const { id } = (await stage.tollgate.admin("accounts", "create", "--name", longWord)) as { id: string };
  await stage.tollgate.admin("accounts", "top-up", id, "--usd", "10", "--ref", "of dialogs");
  await stage.tollgate.admin("keys", "create", id, "--name", longWord);
  const operator = async () => {
    const { context, page } = await stage.visit();
    await context.addInitScript({ content: axe.source });
    await page.goto(await stage.makeLink());
    const faults = await judgeAll(page, ofOperators, id);
    await context.close();
    return faults;
  };
  const member = async () => {
    const { context, page } = await stage.visit();
    await context.addInitScript({ content: axe.source });
    await page.goto("/sign-in");
    await continueWithProvider(page, longWord.slice(0, 100));
    await page.waitForURL("**/overview");
    const faults = await judgeAll(page, ofMembers, id);
    await context.close();
    return faults;
  };
  return (await Promise.all([operator(), member()])).flat();
}

async function judgeAll(page: Page, dialogs: Dialogs, account: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [path, ...buttons] of dialogs) {
    for (const name of buttons) {
      await page.goto(path.replace("ID", account));
      await page.getByRole("button", { name, exact: true }).first().click();
      await page.getByRole("dialog").waitFor();
      faults.push(...(await judge(page, `${path}, the dialog of ${name}`)));
    }
  }
  return faults;
}
