import type { MailServer } from "../../delivery/mail/mail-server.ts";
import { eventually } from "../../support/eventually.ts";
import { mailHost, readAmount, type Stage } from "../stage/stage.ts";
import { runInShell, Visitor } from "./visitor.ts";

/** What the way from a stranger to a closed account was like. */
export interface Journey {
  /** From "Continue with …" to the first answer, and to the first after paying. */
  readonly first: Effort;
  readonly paid: Effort;
  /** What the two receipts cost. */
  readonly costs: readonly bigint[];
  /** What the account has paid. */
  readonly bought: bigint;
  /** Subjects of the mails, without the account's name. */
  readonly mails: readonly string[];
  /** What the commands with the revoked key, and with a key of the closed account, were answered. */
  readonly refused: readonly string[];
  /** What the colleague's answer was, and what became of the colleague's session. */
  readonly colleague: readonly string[];
  /** What is said of the refund and of the end. */
  readonly refund: string;
  readonly farewell: string;
  readonly faults: readonly string[];
}

interface Effort {
  readonly clicks: number;
  readonly seconds: number;
}

/** Goes the whole way in a browser, as a stranger who reads nothing but the pages. */
export async function travel(stage: Stage, mail: MailServer, width: number): Promise<Journey> {
  const name = `marco-${width}`;
  const owner = await Visitor.enter(stage, width);
  const { page } = owner;
  await page.goto("/");
  await page.getByRole("heading", { name: "Models and live prices" }).waitFor();
  await owner.look("the public page");
  await owner.link("Sign in");
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await owner.look("the door");
  owner.clicks = 0;
  const began = performance.now();
  const effort = () => ({ clicks: owner.clicks, seconds: (performance.now() - began) / 1000 });
  await owner.signIn(name);
  await owner.button("Create a key");
  const command = (await page.locator("code", { hasText: "curl " }).textContent()) ?? "";
  await runInShell(command);
  const first = effort();
  await owner.look("the first key");
  await owner.button("Done");
  await owner.look("the first steps");
  await page.getByRole("link", { name: "See what the request cost" }).waitFor();
  await buy(owner);
  await runInShell(command);
  const paid = effort();
  const bought = await readAmount(page, "paid");
  await owner.look("money");
  const costs = await readReceipts(owner);
  const limited = await limitSecondKey(owner, command);
  const isWarned = ({ to, source }: (typeof mail.mails)[number]) =>
    to.includes(`${name}@${mailHost}`) && /the key nightly has spent \d+ % of/.test(source);
  await eventually("the owner is warned", () => mail.mails.some(isWarned));
  const { colleague, work } = await inviteColleague(owner, stage, width);
  await owner.open("Keys");
  await owner.button("Revoke nightly");
  await owner.confirm("Revoke");
  const revoked = await eventually("the key is refused", async () => {
    const said = await runInShell(limited);
    return said.includes("budget") ? undefined : said;
  });
  const refund = await getRefund(owner);
  const farewell = await close(owner);
  const closed = await runInShell(command);
  await colleague.page.reload();
  await colleague.page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  const faults = [...owner.faults, ...colleague.faults.map((fault) => `the colleague's ${fault}`)];
  await Promise.all([owner.leave(), colleague.leave()]);
  const mails = mail.mails
    .filter(({ to }) => to.includes(`${name}@${mailHost}`))
    .map(({ source }) => /^subject: (.*)$/im.exec(source)?.[1]?.replace(`${name}: `, "").trim() ?? "");
  return {
    ...{ first, paid, costs, bought, mails, refund, farewell, faults },
    refused: [revoked, closed],
    colleague: [work, new URL(colleague.page.url()).pathname],
  };
}

async function buy(owner: Visitor): Promise<void> {
  const { page } = owner;
  await owner.link("Buy credit");
  await owner.button("Buy credit");
  await page.getByRole("dialog").getByRole("cell").first().waitFor(); // its prices
  await owner.look("buying credit");
  await owner.button("Continue to payment");
  await page.getByRole("button", { name: "Pay", exact: true }).waitFor();
  await owner.look("the provider's page");
  await owner.button("Pay");
  await page.getByText("25.00 USD added.").waitFor();
}

/** Opens the receipts, newest first. Returns their costs. */
async function readReceipts(owner: Visitor): Promise<readonly bigint[]> {
  const { page } = owner;
  const costs: bigint[] = [];
  for (const at of [0, 1]) {
    await owner.open("Overview");
    await owner.click(page.locator('main a[href^="/receipts/"]').nth(at));
    await page.getByText("The lines add up to the cost").waitFor();
    costs.push(await readAmount(page, "total"));
  }
  await owner.look("a receipt");
  return costs;
}

/** Makes a key with a budget, and uses it up. Returns the command that does. */
async function limitSecondKey(owner: Visitor, command: string): Promise<string> {
  const { page } = owner;
  await owner.open("Keys");
  const secret = await makeKey(owner, "nightly", "0.0005");
  const limited = command.replace(/(?<=Bearer )[^"]+/, secret);
  await eventually("the budget is spent", async () => (await runInShell(limited)).includes("budget"));
  await page.getByRole("row", { name: /nightly/ }).waitFor();
  await owner.look("keys");
  return limited;
}

async function makeKey(owner: Visitor, name: string, budget = ""): Promise<string> {
  const { page } = owner;
  await owner.button("Create key");
  await page.getByLabel("Name").fill(name);
  if (budget !== "") {
    await owner.click(page.getByText("Limits of its own"));
    await page.getByLabel("Budget", { exact: true }).fill(budget);
  }
  await owner.look("creating a key");
  await owner.confirm("Create");
  const secret = (await page.getByRole("dialog").locator("code").textContent()) ?? "";
  await owner.confirm("Done");
  return secret;
}

/** Invites somebody who comes at once, makes a key and uses it. */
async function inviteColleague(owner: Visitor, stage: Stage, width: number) {
  const { page } = owner;
  await owner.open("People");
  await owner.look("people");
  await owner.button("Invite");
  await owner.confirm("Invite");
  const link = (await page.getByRole("dialog").locator("code").textContent()) ?? "";
  await owner.confirm("Done");
  const colleague = await Visitor.enter(stage, width);
  await colleague.page.goto(link);
  await colleague.signIn(`polo-${width}`);
  await colleague.look("invitation");
  await colleague.button("Accept the invitation");
  await colleague.page.waitForURL("**/overview");
  await colleague.open("Playground");
  await colleague.look("playground");
  await colleague.page.getByLabel("Prompt", { exact: true }).fill("Hello");
  await colleague.button("Send");
  await colleague.page.getByRole("link", { name: "Open the receipt" }).waitFor();
  return { colleague, work: (await colleague.page.getByTestId("answer").textContent()) ?? "" };
}

async function getRefund(owner: Visitor): Promise<string> {
  const { page } = owner;
  await owner.open("Money");
  await owner.button(/^Refund pi_/);
  await page.getByLabel("Amount").fill("10");
  await owner.confirm("Refund");
  const said = (await page.getByRole("dialog").getByRole("status").textContent()) ?? "";
  await owner.look("a refund");
  await owner.confirm("Done");
  return said;
}

async function close(owner: Visitor): Promise<string> {
  const { page } = owner;
  await owner.open("People");
  await owner.button("Close account");
  await owner.look("closing");
  await owner.confirm("Close the account");
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await owner.look("the end");
  return (await page.getByRole("status").textContent()) ?? "";
}
