import type { Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";

interface Life {
  /** Where the name of an account leads. */
  readonly account: string;
  /** What the page says of a refused request whose id was pasted. */
  readonly reason: string;
  /** The reasons that the list of refused ones of the account shows. */
  readonly listed: readonly string[];
  /** What the account spent in 30 days, as the list of those who spent most shows it. */
  readonly spent: string;
  /** What stands in fields after a name with a space was typed into them. */
  readonly typed: readonly string[];
  /** The changes that the audit shows of the account alone. */
  readonly changes: readonly string[];
  /** The keys that are suggested for the last four characters of one, and what the requests of the one that is taken are. */
  readonly suggested: readonly (string | null)[];
  readonly byKey: readonly string[];
  /** What the page says of a request that broke off, on the way back from the receipt to which it leads. */
  readonly charged: string;
  /** What it cost, as its customer sees it, who is told of no server. */
  readonly cost: string;
  /** Whether the fleet shows the server that was found, alone. */
  readonly isServerAlone: boolean;
}

/** Finds an account by a part of its name, and why a request of it was refused by the request's id. */
export async function findThings(stage: Stage): Promise<Life> {
  const { tollgate } = stage;
  const { id: accountId } = (await tollgate.admin("accounts", "create", "--name", "Corvid Works")) as { id: string };
  const made = await tollgate.admin("keys", "create", accountId, "--name", "Corvid's own");
  const { id: keyId, key } = made as { id: string; key: string };
  const send = async (more: object = {}) => {
    const response = await fetch(`${tollgate.url}/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({
        model: "tollgate-sim/plain",
        max_tokens: 5,
        messages: [{ role: "user", content: "Hello" }],
        ...more,
      }),
    });
    await response.text();
    return response;
  };
  await send();
  const broken = await send({ stream: true, messages: [{ role: "user", content: "Hello [[sim:cut=3]]" }] });
  await tollgate.admin("accounts", "freeze", "corvid works", "--reason", "A test.");
  const response = await send();
  const requestId = response.headers.get("x-request-id") ?? "";
  const { context, page } = await stage.visit();
  await page.goto(await stage.makeLink("reader"));
  const find = async (text: string, link: RegExp) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("textbox").fill(text);
    await page.getByRole("dialog").getByRole("link", { name: link }).first().waitFor();
    await page.keyboard.press("Enter");
  };
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  await find("orvid", /Corvid Works/);
  await page.waitForURL("**/accounts/*");
  const account = page.url();
  await find(`x-request-id: ${requestId}`, /request/);
  await page.waitForURL("**/requests/*");
  await page.getByRole("heading", { level: 1, name: "Request", exact: true }).waitFor();
  const reason = (await page.getByRole("main").locator(".notice").textContent()) ?? "";
  await page.goto(`/requests?account=${accountId}&outcome=refused`);
  await page.getByRole("table", { name: "Requests, newest first" }).waitFor();
  const listed = await page.getByRole("table").locator(".badge").allInnerTexts();
  await page.goto("/requests");
  await page.getByLabel("Key", { exact: true }).fill(key.slice(-4));
  const options = page.locator(`datalist option[value="${keyId}"]`);
  await options.waitFor({ state: "attached" });
  const suggested = await options.allTextContents();
  await page.goto(`/requests?key=${keyId}`);
  await page.getByRole("strong").getByText("Corvid's own").waitFor();
  await page.getByRole("table", { name: "Requests, newest first" }).waitFor();
  const byKey = await page.getByRole("table").locator(".badge").allInnerTexts();
  const brokenId = broken.headers.get("x-request-id") ?? "";
  await page.goto(`/requests/${brokenId}`);
  await page.getByRole("main").getByRole("link", { name: "$" }).click();
  await page.getByText("The lines add up to the cost").waitFor();
  await page.getByRole("main").getByRole("link", { name: "Request" }).click();
  const charged = (await page.getByRole("main").locator(".notice").textContent()) ?? "";
  const cost = await readCost(stage, key, brokenId);
  await page.goto("/accounts");
  await page.getByLabel("Order").selectOption("spent");
  await page.getByRole("columnheader", { name: "Spent in 30 days" }).waitFor(); // until then the order is the one before
  const spender = page.getByRole("row", { name: /Corvid Works/ });
  const first = spender.getByRole("cell").first();
  const spent = (await first.textContent()) ?? "";
  await page.getByLabel("Order").selectOption("last-use");
  await page.getByText("last used first").waitFor();
  const typed = [
    await typeInto(page, "/keys", "Keys of", "corvid w"),
    await typeInto(page, "/requests", "Account", "corvid w"),
    await typeInto(page, "/audit", "Who", "Ada Lovelace"),
  ];
  await page.goto(`/audit?target=${accountId}`);
  const changed = page.getByRole("table", { name: "Changes" }).locator("tbody td:nth-child(3)");
  await changed.first().waitFor();
  const changes = await changed.allInnerTexts();
  const servers = (await tollgate.admin("servers", "list")) as { id: string; url: string }[];
  const server = servers.find(({ id }) => id.endsWith("/plain")) ?? { id: "", url: "" };
  await find(server.id, /server/);
  await page.waitForURL("**/fleet?find=*");
  const rows = page.getByRole("table", { name: "Inference servers" }).locator("tbody tr");
  await rows.first().waitFor();
  const isServerAlone = (await rows.count()) === 1;
  await context.close();
  return {
    suggested: suggested.map((text) => text.replace(/tg-.*/, "tg-…")),
    byKey,
    charged,
    cost,
    typed,
    changes,
    isServerAlone,
    spent,
    account: account.replace(accountId, "ID"),
    reason,
    listed,
  };
}

/** Types a text letter by letter, and returns what the field holds then. */
async function typeInto(page: Page, path: string, label: string, text: string): Promise<string> {
  await page.goto(path);
  const field = page.getByLabel(label, { exact: true });
  await field.pressSequentially(text);
  return field.inputValue();
}

/** What a customer who signs in with a key is told that a request cost. */
async function readCost(stage: Stage, key: string, requestId: string): Promise<string> {
  const { context, page } = await stage.visit();
  await page.goto(`/sign-in?next=/requests/${requestId}`);
  await page.getByLabel("API key").fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { level: 1, name: "Request", exact: true }).waitFor();
  await page.getByRole("main").locator(".notice").waitFor();
  const costs = await page.getByRole("main").getByRole("link", { name: "$" }).allTextContents();
  await context.close();
  return costs.join();
}
