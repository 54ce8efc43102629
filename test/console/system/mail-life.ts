import axe from "axe-core";
import type { Page } from "playwright-core";
import { type MailServer, readPart } from "../../delivery/mail/mail-server.ts";
import { eventually } from "../../support/eventually.ts";
import { findWideTables, judge, narrow } from "../look/judge.ts";
import type { Stage } from "../stage/stage.ts";

interface Life {
  /** What another browser is told that follows the link. */
  readonly elsewhere: string;
  /** Where one gets by the link, who came for the sake of an invitation. */
  readonly opened: string;
  /** What one is told of unless one chooses. */
  readonly offered: readonly string[];
  /** What is chosen after one was turned off, and the page opened anew. */
  readonly kept: readonly string[];
  readonly faults: readonly string[];
}

const email = "hedy@example.com";

/** Signs in by a link that comes by mail, and turns one kind of mail off. */
export async function liveByMail(stage: Stage, server: MailServer): Promise<Life> {
  const { context, page } = await stage.visit();
  await context.addInitScript({ content: axe.source });
  await page.goto("/invitation/tgin_none");
  await page.getByText("You are invited").waitFor();
  await page.getByLabel("E-mail").waitFor();
  const faults = [...(await judge(page, "/sign-in"))];
  await page.getByLabel("E-mail").fill(email);
  await page.getByRole("button", { name: "Mail me a link" }).click();
  await page.getByRole("status").waitFor();
  faults.push(...(await judge(page, "a link asked for")));
  const path = await eventually("the link comes", () => readLink(server));
  const other = await stage.visit();
  await other.page.goto(path);
  const elsewhere = (await other.page.locator("body").textContent()) ?? "";
  await other.page.getByRole("link", { name: "To the sign-in page" }).click();
  await other.page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await other.context.close();
  // Mail programs open a tab of its own.
  const tab = await context.newPage();
  await tab.goto(path);
  await tab.getByRole("alert").getByText("The invitation was used or revoked").waitFor();
  const opened = new URL(tab.url()).pathname;
  await tab.close();
  const offered = await readChoice(page);
  faults.push(...(await judge(page, "/people")));
  await page.setViewportSize(narrow);
  faults.push(...(await findWideTables(page)));
  await page.getByLabel("a payment came in").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Your choice is kept.").waitFor();
  const kept = await readChoice(page);
  await context.close();
  return { elsewhere, opened, offered, kept, faults };
}

function readLink({ mails }: MailServer): string | undefined {
  const [mail] = mails.filter(({ to }) => to.includes(email));
  return /\/sign-in\/mail\/\w+/.exec(readPart(mail?.source ?? "", "text/plain") ?? "")?.[0];
}

/** Opens the page. Returns the kinds of mail that are ticked. */
async function readChoice(page: Page): Promise<string[]> {
  await page.goto("/people");
  const choice = page.getByRole("group", { name: `Write to ${email} when` });
  await choice.waitFor();
  const ticked = await choice
    .locator("label")
    .filter({ has: page.locator(":checked") })
    .allTextContents();
  return ticked.map((text) => text.trim());
}
