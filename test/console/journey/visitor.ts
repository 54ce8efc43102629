import { execFile } from "node:child_process";
import { promisify } from "node:util";
import axe from "axe-core";
import type { Locator, Page } from "playwright-core";
import { findAxeFaults } from "../look/judge.ts";
import type { Stage } from "../stage/stage.ts";

/** Somebody in front of a browser, whose clicks are counted, and who finds fault with what is shown. */
export class Visitor {
  readonly page: Page;
  readonly faults: string[] = [];
  /** Presses of buttons, links and boxes. */
  clicks = 0;
  readonly #end: () => Promise<void>;

  private constructor(page: Page, end: () => Promise<void>) {
    this.page = page;
    this.#end = end;
  }

  static async enter(stage: Stage, width: number): Promise<Visitor> {
    const { context, page } = await stage.visit({ viewport: { width, height: 800 } });
    await context.addInitScript({ content: axe.source });
    return new Visitor(page, () => context.close());
  }

  async click(what: Locator): Promise<void> {
    this.clicks++;
    await what.click();
  }

  button(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole("button", { name, exact: typeof name === "string" }));
  }

  link(name: string): Promise<void> {
    return this.click(this.page.getByRole("link", { name, exact: true }));
  }

  /** Presses the button of the dialog that is open. */
  confirm(name: string): Promise<void> {
    return this.click(this.page.getByRole("dialog").getByRole("button", { name, exact: true }));
  }

  /** Opens a page by the menu, and waits for it. */
  async open(name: string): Promise<void> {
    const menu = this.page.getByRole("button", { name: "Menu" });
    if (await menu.isVisible()) {
      await this.click(menu);
    }
    await this.click(this.page.getByRole("navigation", { name: "Main" }).getByRole("link", { name, exact: true }));
    await this.page.getByRole("heading", { level: 1, name }).waitFor();
  }

  /** Signs in with the provider as somebody whom it does not know yet. */
  async signIn(name: string): Promise<void> {
    const { page } = this;
    await this.link("Continue with Test identities");
    await page.locator("[name=login]").fill(name);
    await page.locator("[name=password]").fill("any");
    await this.click(page.locator("[type=submit]"));
    // The provider asks whether the service may know who it is.
    await this.click(page.locator("[type=submit]"));
  }

  /** Looks for faults of the page as it stands, whatever its width. */
  async look(at: string): Promise<void> {
    const { page } = this;
    await page.locator("h1").first().waitFor();
    await page.locator(".loading").first().waitFor({ state: "detached" });
    const tooWide = await page.locator("html").evaluate((html) => html.scrollWidth - html.clientWidth);
    const found = [...(await findAxeFaults(page)), ...(tooWide > 0 ? [`${tooWide} pixels too wide`] : [])];
    this.faults.push(...found.map((fault) => `${at}: ${fault}`));
  }

  leave(): Promise<void> {
    return this.#end();
  }
}

/** Runs a command as it is printed, in a shell. Returns the text of the answer, or the error's message. */
export async function runInShell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)("sh", ["-c", command], { timeout: 60_000 });
  const { choices, error } = JSON.parse(stdout) as {
    readonly choices?: readonly { readonly message: { readonly content: string } }[];
    readonly error?: { readonly message: string };
  };
  return choices?.[0]?.message.content ?? error?.message ?? stdout;
}
