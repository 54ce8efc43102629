import type { BrowserContext, Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "../system/identity-life.ts";

/** What Back does with the dialogs of operators and members. Returns what went wrong, in words. */
export async function goBackFromDialogs(stage: Stage): Promise<readonly string[]> {
  const faults: string[] = [];
  await asOperator(stage, faults);
  await asMember(stage, faults);
  return faults;
}

async function asOperator(stage: Stage, faults: string[]): Promise<void> {
  const { id } = (await stage.tollgate.admin("accounts", "create", "--name", "Back and forth")) as { id: string };
  await stage.tollgate.admin("keys", "create", id, "--name", "turned");
  const { context, page } = await stage.visit();
  const walk = new Walk(page, faults);
  await page.goto(await stage.makeLink());
  await walk.follow("Models");
  await page.goto(`/accounts/${id}`);
  for (const name of ["Freeze", "Set limits", "Refund", "Grant", "Top up"]) {
    await walk.open(name);
    await walk.backCloses(name);
  }
  for (const name of ["Freeze", "Grant"]) {
    await walk.open(name);
    await walk.press("Cancel");
  }
  await walk.open("Top up");
  await page.keyboard.press("Escape");
  await walk.expectBackTo("/models", "after dialogs that were left by their buttons");
  await page.goForward();

  await walk.open("Set limits");
  await page.goBack();
  await page.goForward();
  await walk.expectClosed("after Back and Forward");
  await walk.open("Set limits");
  await page.reload();
  await page.getByRole("heading", { level: 1, name: "Back and forth" }).waitFor();
  await walk.expectClosed("after the page was loaded anew");
  await walk.expectBackTo("/models", "after the page was loaded anew under a dialog");
  await page.goForward();

  await page.getByRole("button", { name: "Keys", exact: true }).click();
  await walk.open("Rotate turned");
  await walk.backCloses("Rotate turned");
  await walk.open("Rotate turned");
  await walk.press("Rotate");
  await walk.backKeeps("the key that was rotated");
  await walk.expectBackTo("/models", "after a key was rotated");
  await page.goForward();
  await page.getByRole("heading", { level: 1, name: "Back and forth" }).waitFor();

  await page.keyboard.press("Control+k");
  await walk.backCloses("the finder");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill("Fleet");
  await page.getByRole("dialog").getByRole("link", { name: /Fleet/ }).click();
  await page.waitForURL("**/fleet");
  await walk.expectClosed("after a link in the finder");
  await walk.expectBackTo(`/accounts/${id}`, "after a link in the finder");

  await walk.follow("Accounts");
  await walk.open("Create account");
  await page.getByLabel("Name", { exact: true }).fill("Just made");
  await walk.press("Create");
  await page.getByRole("heading", { level: 1, name: "Just made" }).waitFor();
  await walk.expectBackTo("/accounts", "after an account was made");
  await walk.expectClosed("after an account was made");
  await reopenWithoutPage(context, page, faults);
  await page.goto("/first-run");
  await page.getByRole("button", { name: "Create account and key" }).click();
  await walk.backKeeps("the first account's key");
  await context.close();
}

/** A browser that has kept a dialog's entry, and dropped the page's before it. */
async function reopenWithoutPage(context: BrowserContext, opener: Page, faults: string[]): Promise<void> {
  const open = () => void (globalThis as unknown as { open(path: string): void }).open("/overview");
  const [page] = await Promise.all([context.waitForEvent("page"), opener.evaluate(open)]);
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await page.evaluate(() => {
    const { history } = globalThis as unknown as { history: { replaceState(state: object, title: string): void } };
    history.replaceState({ ofDialogs: true }, "");
  });
  await page.reload();
  await new Walk(page, faults).follow("Models");
  await page.close();
}

async function asMember(stage: Stage, faults: string[]): Promise<void> {
  const { context, page } = await stage.visit();
  const walk = new Walk(page, faults);
  await page.goto("/sign-in");
  await continueWithProvider(page, "ida");
  await page.waitForURL("**/overview");
  await page.getByRole("button", { name: "Create a key" }).click();
  await walk.backKeeps("the first key");
  await page.locator("main code", { hasText: "curl " }).waitFor();
  await walk.follow("Keys");
  await walk.open("Create key");
  await walk.backCloses("Create key");
  await walk.open("Create key");
  await page.getByLabel("Name", { exact: true }).fill("seen once");
  await walk.press("Create");
  await walk.backKeeps("the new key");
  await walk.expectBackTo("/overview", "after a key was made");

  await walk.follow("People");
  for (const name of ["Rename", "Close account", "Leave account", "Invite"]) {
    await walk.open(name);
    await walk.backCloses(name);
  }
  await walk.open("Invite");
  await walk.press("Invite");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog", { name: "Find anything" }).waitFor();
  await page.goBack();
  await page.getByRole("dialog", { name: "Find anything" }).waitFor({ state: "detached" });
  await walk.backKeeps("the invitation under the finder");

  await walk.follow("Money");
  await walk.open("Buy credit");
  await walk.backCloses("Buy credit");
  await walk.open("Buy credit");
  await walk.press("Continue to payment");
  await page.getByRole("button", { name: "Pay", exact: true }).waitFor();
  await page.waitForLoadState("networkidle"); // it stays there
  await page.getByRole("button", { name: "Pay", exact: true }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { level: 1, name: "Money" }).waitFor();
  await walk.expectClosed("after Back from the payment's page");
  await walk.expectBackTo("/people", "after Back from the payment's page");
  await context.close();
}

/** Somebody who uses the browser's own buttons, and notes what is wrong. */
class Walk {
  readonly #page: Page;
  readonly #faults: string[];

  constructor(page: Page, faults: string[]) {
    this.#page = page;
    this.#faults = faults;
  }

  /** Opens a page by the menu. */
  async follow(name: string): Promise<void> {
    await this.#page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }).click();
    await this.#page.getByRole("heading", { level: 1, name }).waitFor();
  }

  async open(name: string): Promise<void> {
    await this.#page.getByRole("button", { name, exact: true }).click();
    await this.#page.getByRole("dialog").waitFor();
  }

  /** Presses a button of the dialog. */
  async press(name: string): Promise<void> {
    await this.#page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
  }

  /** Goes back with a dialog open: it is closed, and the page is the same. */
  async backCloses(name: string): Promise<void> {
    await this.#page.getByRole("dialog").waitFor();
    const before = this.#page.url();
    await this.#page.goBack();
    await this.expectClosed(`after Back in ${name}`);
    await this.#expectAt(before, `after Back in ${name}`);
  }

  /** Goes back twice with a dialog open that shows something once: it stays until its own button closes it. */
  async backKeeps(what: string): Promise<void> {
    const secret = this.#page.getByRole("dialog").locator("code").first();
    await secret.waitFor();
    const [before, shown] = [this.#page.url(), await secret.textContent()];
    for (const time of ["first", "second"]) {
      await this.#page.goBack();
      await waitForPlace(this.#page, true);
      await this.#expectAt(before, `after the ${time} Back from ${what}`);
      if ((await secret.count()) === 0 || (await secret.textContent()) !== shown) {
        this.#faults.push(`${what} is lost after the ${time} Back`);
      }
    }
    await this.press("Done");
    await this.expectClosed(`after ${what}`);
  }

  async expectClosed(when: string): Promise<void> {
    try {
      await this.#page.getByRole("dialog").waitFor({ state: "detached", timeout: 5000 });
      await waitForPlace(this.#page, false);
    } catch {
      this.#faults.push(`a dialog is left ${when}`);
    }
  }

  /** Goes back with no dialog open: one press leads to the page before. */
  async expectBackTo(path: string, when: string): Promise<void> {
    await this.expectClosed(when);
    await this.#page.goBack();
    await this.#expectAt(new URL(path, this.#page.url()).href, `one Back ${when}`);
  }

  async #expectAt(url: string, when: string): Promise<void> {
    const isThere = (at: URL) => at.pathname === new URL(url).pathname;
    await this.#page
      .waitForURL(isThere, { timeout: 5000 })
      .catch(() => this.#faults.push(`${this.#page.url()} and not ${url} is shown ${when}`));
  }
}

/** Waits until the history stands at the entry of dialogs, or at that of the page: browsers get there a moment later. */
async function waitForPlace(page: Page, isOfDialogs: boolean): Promise<void> {
  const isThere = (wanted: boolean) =>
    ((globalThis as { history?: { state: unknown } }).history?.state != null) === wanted;
  await page.waitForFunction(isThere, isOfDialogs, { timeout: 5000 });
}
