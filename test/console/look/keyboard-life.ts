import type { Locator, Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";

/** More presses of Tab than any page takes to be gone through. */
const mostPresses = 120;

/** What a locator finds. */
type Handle = Awaited<ReturnType<Locator["elementHandle"]>>;

/** What each page is for, done without a mouse. Returns what could not be done or seen, in words. */
export async function liveByKeyboard(stage: Stage): Promise<readonly string[]> {
  const { context, page } = await stage.visit();
  const faults: string[] = [];
  const by = new Keyboard(page, faults);
  await page.goto(await stage.makeLink());
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await by.skip();
  await makeAccount(page, by);
  await topUp(page, by);
  await makeKey(page, by);
  await by.open("Usage");
  await by.reach(page.getByLabel("By", { exact: true }));
  await page.keyboard.press("k"); // the first letter chooses "Key"
  await page.waitForURL("**/usage?by=key");
  await by.open("Fleet");
  await by.press(page.getByRole("row").filter({ hasText: "tollgate-sim/embedder" }).getByRole("button"));
  await page.getByText("Draining").waitFor();
  await by.press(page.getByRole("button", { name: "Resume" }));
  await page.getByText("Draining").waitFor({ state: "detached" });
  await by.open("Books");
  await by.press(page.getByRole("button", { name: "Prove now" }));
  await page.getByRole("status").filter({ hasText: "The books hold" }).waitFor();
  await by.open("Audit");
  const show = page.getByRole("button", { name: "Show" }).first();
  await by.press(show);
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await by.expectFocus(show, "after a change was shown");
  await makeFirstRequest(page, by);
  await setPrice(page, by);
  await sendPrompt(page, by);
  await by.open("Settings");
  await by.reach(page.getByLabel("Find", { exact: true }));
  await page.keyboard.type("listen.console");
  await page.getByText("1 of").waitFor();
  await by.press(page.getByRole("button", { name: "Sign out" }), "Shift+Tab");
  await page.waitForURL("**/sign-in");
  await context.close();
  return faults;
}

async function makeAccount(page: Page, by: Keyboard): Promise<void> {
  await by.open("Accounts");
  await by.press(page.getByRole("button", { name: "Create account" }));
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await by.expectFocus(page.getByRole("button", { name: "Create account" }), "after a dialog was left by Escape");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await by.reach(page.getByLabel("Name", { exact: true }));
  await page.keyboard.type("Keyboard Alone");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Keyboard Alone" }).waitFor();
  await by.open("Accounts");
  await by.reach(page.getByLabel("Find an account"));
  await page.keyboard.type("keyboard al");
  await page.getByText("1 account", { exact: true }).waitFor();
  await by.press(page.getByRole("link", { name: "Keyboard Alone" }));
  await page.getByRole("heading", { level: 1, name: "Keyboard Alone" }).waitFor();
}

async function topUp(page: Page, by: Keyboard): Promise<void> {
  await by.press(page.getByRole("button", { name: "Top up" }));
  await by.reach(page.getByLabel("Amount"));
  await page.keyboard.type("10");
  await by.reach(page.getByLabel("Reference"));
  await page.keyboard.type("by-keyboard");
  await page.keyboard.press("Enter");
  await page.locator('[data-name="balance"][data-pico-usd="11000000000000"]').waitFor();
}

/** With a model of its own and an end: what the form of a key takes beside numbers. */
async function makeKey(page: Page, by: Keyboard): Promise<void> {
  await by.press(page.getByRole("button", { name: "Keys", exact: true }));
  await by.press(page.getByRole("button", { name: "Create key" }));
  await by.reach(page.getByLabel("Name", { exact: true }));
  await page.keyboard.type("typed");
  await by.press(page.getByText("Limits of its own"));
  await by.reach(page.getByLabel("tollgate-sim/plain"));
  await page.keyboard.press("Space");
  await by.reach(page.getByLabel("Works until"));
  await page.getByLabel("Works until").fill("2031-05-06T07:08"); // how its parts are typed is the browser's
  await by.press(page.getByRole("button", { name: "Create", exact: true }));
  await by.press(page.getByRole("button", { name: "Done" }));
  const row = page.getByRole("row", { name: /typed.*Ends.*1 model/ });
  await row.waitFor();
  await by.expectFocus(page.getByRole("button", { name: "Create key" }), "after a key was made");
}

/** The first steps, to the receipt of the answer and from there to the account. */
async function makeFirstRequest(page: Page, by: Keyboard): Promise<void> {
  await page.goto("/first-run");
  await by.press(page.getByRole("button", { name: "Create account and key" }));
  await by.press(page.getByRole("button", { name: "Done" }));
  await by.expectFocus(page.getByLabel("Prompt", { exact: true }), "after the first key was made");
  await by.press(page.getByRole("button", { name: "Send" }));
  await by.press(page.getByRole("link", { name: "Open the receipt" }));
  await by.expectFocus(page.getByRole("heading", { level: 1, name: "Receipt" }), "on the page Receipt");
  await page.getByText("The lines add up to the cost").waitFor();
  await by.press(page.getByRole("link", { name: "My first customer" }));
  await page.getByRole("heading", { level: 1, name: "My first customer" }).waitFor();
}

async function setPrice(page: Page, by: Keyboard): Promise<void> {
  await by.open("Models");
  await by.press(page.getByRole("link", { name: "tollgate-sim/embedder" }));
  const set = page.getByRole("button", { name: "Set price" });
  await by.press(set);
  await by.reach(page.getByLabel("Input"));
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("0.015");
  await by.press(page.getByRole("button", { name: "Apply" }));
  await page.getByRole("row").filter({ hasText: "Set by an operator" }).waitFor();
  await by.expectFocus(set, "after a price was set");
}

/** With a key that is made for it, through the other surface. */
async function sendPrompt(page: Page, by: Keyboard): Promise<void> {
  await by.open("Playground");
  await by.reach(page.getByLabel("Surface"));
  await page.keyboard.press("m"); // the first letter chooses "Messages"
  await by.reach(page.getByLabel("Prompt", { exact: true }));
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("Hello");
  await by.press(page.getByRole("button", { name: "Send" }));
  await by.reach(page.getByRole("link", { name: "Open the receipt" }));
}

/** Somebody who has no mouse, and looks whether the focus can be seen. */
class Keyboard {
  readonly #page: Page;
  readonly #faults: string[];

  constructor(page: Page, faults: string[]) {
    this.#page = page;
    this.#faults = faults;
  }

  /** Goes past the menu. */
  async skip(): Promise<void> {
    await this.press(this.#page.getByRole("link", { name: "Skip to content" }));
    await this.expectFocus(this.#page.getByRole("main"), "after the menu was skipped");
  }

  /** Opens a page by the menu, which stands before the page. Its name has the focus then. */
  async open(name: string): Promise<void> {
    await this.press(this.#page.getByRole("navigation").getByRole("link", { name, exact: true }), "Shift+Tab");
    const heading = this.#page.getByRole("heading", { level: 1, name });
    await heading.waitFor();
    await this.expectFocus(heading, `on the page ${name}`);
    await this.#page.locator(".loading").first().waitFor({ state: "detached" });
  }

  async press(target: Locator, way: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    await this.reach(target, way);
    await this.#page.keyboard.press("Enter");
  }

  /** Presses Tab until something has the focus, and notes when that cannot be seen. */
  async reach(target: Locator, way: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    await target.waitFor();
    // Found once and not after every press: its role and name are worth a look at the whole page.
    let element = await target.elementHandle();
    let isReached = await hasFocus(element);
    for (let tries = 0; isReached !== true; tries++) {
      if (tries === mostPresses) {
        throw new Error(`no ${way} reaches ${target}`);
      }
      if (isReached === undefined) {
        element = await target.elementHandle();
      } else {
        await this.#page.keyboard.press(way);
      }
      isReached = await hasFocus(element);
    }
    const isSeen = await target.evaluate((element) => {
      const view = element.ownerDocument.defaultView;
      const box = element.closest("label") ?? element;
      const shows = (one: typeof element) => {
        const style = view?.getComputedStyle(one);
        return style !== undefined && style.outlineStyle !== "none" && style.outlineWidth !== "0px";
      };
      return shows(element) || shows(box as typeof element);
    });
    if (!isSeen) {
      this.#faults.push(`the focus on ${target} cannot be seen`);
    }
  }

  /** Waits until something has the focus by itself. */
  async expectFocus(target: Locator, when: string): Promise<void> {
    try {
      await target.and(this.#page.locator(":focus")).waitFor();
    } catch {
      this.#faults.push(`the focus is not on ${target} ${when}`);
    }
  }
}

/** Whether it has the focus, or a control that it is the name of. Undefined: the page has it no longer. */
async function hasFocus(target: Handle): Promise<boolean | undefined> {
  return target.evaluate((element) => {
    const active = element.ownerDocument.activeElement;
    const isNamed = () => active?.matches("summary, label, button, a") === true && active.contains(element);
    return element.isConnected ? active === element || isNamed() : undefined;
  });
}
