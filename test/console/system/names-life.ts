import axe from "axe-core";
import type { Page } from "playwright-core";
import { eventually } from "../../support/eventually.ts";
import { judge } from "../look/judge.ts";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "./identity-life.ts";

interface Life {
  /** The account and the key of a request. */
  readonly request: readonly (string | null)[];
  /** What copies their ids. */
  readonly copied: readonly string[];
  /** Who made changes. */
  readonly audit: readonly string[];
  /** What an invitation gives, by its names. */
  readonly invitation: Readonly<Record<string, string>>;
  /** Names that turn the text around them, and ids without a name. */
  readonly faults: readonly string[];
}

/** Names of a person, a key of programs and a key that manages, written from right to left. */
const names = { person: "דבורה", key: "מפתח", robot: "רובוט" } as const;

/** Somebody whose script runs from right to left looks at a request, at changes and at people, and invites. */
export async function readNames(stage: Stage): Promise<Life> {
  const { tollgate } = stage;
  const { context, page } = await stage.visit();
  await context.addInitScript({ content: axe.source });
  const faults: string[] = [];
  await page.goto("/sign-in");
  await continueWithProvider(page, names.person);
  await page.waitForURL("**/overview");
  const accounts = (await tollgate.admin("accounts", "list")) as { id: string; name: string }[];
  const accountId = accounts.find(({ name }) => name === names.person)?.id ?? "";
  const requestId = await useKeys(stage, accountId);
  const ids = await listIds(stage, accountId);
  const all = [accountId, ...ids];

  const fact = (name: string) => page.locator(".fact", { has: page.getByText(name, { exact: true }) });
  // The record is written in groups, some hundred milliseconds later.
  await eventually("the request is known", async () => {
    await page.goto(`/requests/${requestId}`);
    await page.locator(".fact, .empty").first().waitFor();
    return (await fact("Key").count()) > 0;
  });
  const request = await Promise.all(["Account", "Key"].map((name) => fact(name).locator("bdi").textContent()));
  const labels = page.locator(".fact").getByRole("button");
  const copied = await labels.evaluateAll((buttons) => buttons.map((one) => one.getAttribute("aria-label") ?? ""));
  faults.push(...(await findFaults(page, all)), ...(await judge(page, "/requests/ID")));

  await page.goto("/audit");
  await page
    .getByRole("row", { name: /Create key/ })
    .first()
    .waitFor();
  faults.push(...(await judge(page, "/audit")));
  const audit = await page.getByRole("table").getByRole("rowheader").allInnerTexts();
  faults.push(...(await findFaults(page, all)));

  await page.goto("/people");
  await page.getByRole("table", { name: "Members" }).waitFor();
  await page.getByRole("button", { name: `Change ${names.person}` }).click();
  faults.push(...(await findFaults(page, ids)));
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
  const link = (await page.getByRole("dialog").locator("code").textContent()) ?? "";
  await page.goto("/keys");
  for (const verb of ["Limits", "Rotate", "Revoke"]) {
    await page.getByRole("button", { name: `${verb} ${names.key}` }).click();
    await page.getByRole("dialog").waitFor();
    faults.push(...(await findFaults(page, all)));
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  }
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("textbox").fill(names.key);
  await page.getByRole("dialog").getByRole("link", { name: /key/ }).waitFor();
  faults.push(...(await findFaults(page, all)));
  await context.close();
  const invitation = await lookAtInvitation(stage, link, faults, all);
  await lookAsOperator(stage, accountId, faults, ids);
  return { request, copied, audit, invitation, faults };
}

/** Makes a key and one that manages, which makes another; a request is refused. Returns its id. */
async function useKeys({ tollgate }: Stage, accountId: string): Promise<string> {
  const make = (...options: string[]) =>
    tollgate.admin("keys", "create", accountId, ...options) as Promise<{ key: string }>;
  const robot = await make("--manages", "--name", names.robot);
  const post = (path: string, key: string, body: object) =>
    fetch(`${tollgate.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  await post("/v1/keys", robot.key, { name: "made by a program" });
  const { key } = await make("--name", names.key);
  const messages = [{ role: "user", content: "Hello" }];
  const refused = await post("/v1/chat/completions", key, { model: "no/such", messages });
  return refused.headers.get("x-request-id") ?? "";
}

/** The ids of the account's keys and people. */
async function listIds({ tollgate }: Stage, accountId: string): Promise<readonly string[]> {
  const keys = (await tollgate.admin("keys", "list", accountId)) as { id: string }[];
  const members = (await tollgate.admin("accounts", "members", accountId)) as { person_id: string }[];
  return [...keys.map(({ id }) => id), ...members.map(({ person_id }) => person_id)];
}

async function lookAtInvitation(
  stage: Stage,
  link: string,
  faults: string[],
  all: readonly string[],
): Promise<Record<string, string>> {
  const { context, page } = await stage.visit();
  await context.addInitScript({ content: axe.source });
  await page.goto(new URL(link).pathname);
  await continueWithProvider(page, "barak");
  await page.getByRole("button", { name: "Accept the invitation" }).waitFor();
  const facts = await page
    .locator(".fact")
    .evaluateAll((all) =>
      all.map((one) => [one.querySelector("dt")?.textContent ?? "", one.querySelector("dd")?.textContent ?? ""]),
    );
  faults.push(...(await findFaults(page, all)), ...(await judge(page, "/invitation")));
  await page.getByRole("button", { name: "Accept the invitation" }).click();
  await page.waitForURL("**/overview");
  await context.close();
  await refuseAnother(stage, link, faults);
  return Object.fromEntries(facts);
}

/** Looks at an invitation that somebody else has used. */
async function refuseAnother(stage: Stage, link: string, faults: string[]): Promise<void> {
  const { context, page } = await stage.visit();
  await page.goto(new URL(link).pathname);
  await continueWithProvider(page, "jael");
  await page.getByRole("alert").getByText("The invitation was used or revoked").waitFor();
  if ((await page.getByRole("button", { name: "Accept the invitation" }).count()) > 0) {
    faults.push("an invitation that was used can be accepted");
  }
  await context.close();
}

async function lookAsOperator(
  stage: Stage,
  accountId: string,
  faults: string[],
  ids: readonly string[],
): Promise<void> {
  const { context, page } = await stage.visit();
  await page.goto(await stage.makeLink("reader"));
  for (const [path, shown] of [
    [`/accounts/${accountId}`, "Lots"],
    [`/accounts/${accountId}?tab=people`, "People"],
    ["/accounts", "Accounts"],
    ["/requests", "Requests"],
  ] as const) {
    await page.goto(path);
    await page.getByRole("main").locator("bdi", { hasText: names.person }).first().waitFor();
    faults.push(...(await findFaults(page, ids)).map((fault) => `${shown}: ${fault}`));
  }
  await page.goto("/settings");
  await page.getByRole("table", { name: "Sessions" }).getByText(names.person).first().waitFor();
  faults.push(...(await findFaults(page, ids)));
  await context.close();
}

/** A node of a document, as far as it is looked at. */
interface Node {
  readonly nodeType: number;
  readonly data?: string;
  readonly parentElement: { closest(selector: string): unknown } | null;
  readonly childNodes: ArrayLike<Node>;
}

/** Names that are not apart from their sentence, and ids that a name should stand for. */
async function findFaults(page: Page, hidden: readonly string[]): Promise<string[]> {
  const found = await page.locator("#root").evaluateAll(([root]) => {
    const rightToLeft = /[\u0590-\u05ff]/;
    const all: string[] = [];
    const look = (node: Node) => {
      for (const child of Array.from(node.childNodes)) {
        const { nodeType, data = "", parentElement: parent } = child;
        if (nodeType === 3 && rightToLeft.test(data) && !parent?.closest("bdi, [dir=auto], option, pre")) {
          all.push(`“${data}” turns what is around it`);
        }
        look(child);
      }
    };
    look(root as unknown as Node);
    return all;
  });
  const text = (await page.locator("#root").textContent()) ?? "";
  return [...found, ...hidden.filter((id) => text.includes(id)).map((id) => `${page.url()} shows ${id}`)];
}
