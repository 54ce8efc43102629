import type { Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";

type Limits = Readonly<Record<"usd" | "per" | "tpm" | "in_flight", unknown>>;
type Key = { readonly id: string; readonly name: string; readonly expires_at: string | null; readonly limits: Limits };

interface Life {
  /** The key as it was made, as it is after its name alone was changed in a form that was open meanwhile, and at the end. */
  readonly made: Key;
  readonly renamed: Key;
  readonly lifted: Key;
  /** A key that another takes over from, after its requests at once were changed. */
  readonly rotated: Key;
  /** Its account after limits of it were set, and after one of them was lifted. */
  readonly accounts: readonly unknown[];
  /** What the form says to odd values. */
  readonly refusals: readonly string[];
}

const odd = [
  ["Budget", "0"],
  ["Budget", "1e3"],
  ["Budget", "9007.2"],
  ["Tokens a minute", "1,5"],
  ["Tokens a minute", "9999999999"],
  ["Requests at once", "-1"],
] as const;

/** Changes, keeps and lifts limits of a key while somebody else changes others of it. */
export async function limitKeys({ tollgate, makeLink, visit }: Stage): Promise<Life> {
  const { id: account } = (await tollgate.admin("accounts", "create", "--name", "Limited")) as { id: string };
  const limits = ["--usd", "5", "--per", "week", "--tpm", "9000", "--expires", "2031-05-06T07:08:09Z"];
  const { id } = (await tollgate.admin("keys", "create", account, "--name", "first", ...limits)) as { id: string };
  const read = async () =>
    ((await tollgate.admin("keys", "list", account)) as Key[]).find((key) => key.id === id) as Key;
  const { context, page } = await visit();
  await page.goto(await makeLink());
  const open = async (name: string) => {
    await page.goto(`/keys?account=${account}`);
    await page
      .getByRole("button", { name: `Limits ${name}` })
      .last()
      .click(); // the oldest
  };

  const made = await read();
  await open("first");
  await tollgate.admin("keys", "set-limits", id, "--tpm", "700", "--usd", "4");
  await page.getByLabel("Name").fill("renamed");
  await save(page);
  const renamed = await read();

  await open("renamed");
  const refusals: string[] = [];
  for (const [label, value] of odd) {
    const field = page.getByLabel(label, { exact: true });
    const kept = await field.inputValue();
    await field.fill(value);
    await page.getByRole("button", { name: "Save" }).click();
    refusals.push(`${label} ${value}: ${await page.getByRole("alert").textContent()}`);
    await field.fill(kept);
  }
  await page.getByLabel("Tokens a minute").fill("");
  await page.getByLabel("Budget", { exact: true }).fill("");
  await page.getByLabel("Requests at once").fill("1,000");
  await save(page);
  const lifted = await read();

  await tollgate.admin("keys", "rotate", id, "--overlap", "1h");
  await open("renamed");
  await page.getByLabel("Requests at once").fill("7");
  await save(page);
  const rotated = await read();

  await page.goto(`/accounts/${account}`);
  const accounts: unknown[] = [];
  for (const inFlight of ["12", ""]) {
    await page.getByRole("button", { name: "Set limits" }).click();
    await page.getByLabel("Requests at once").fill(inFlight);
    await page.getByLabel("Low balance").fill("2.5");
    await page.getByLabel("Class").selectOption({ label: "priority: goes first" });
    await save(page);
    const said = `Limits of its own:${inFlight === "" ? "" : ` at most ${inFlight} requests at once.`} The balance is low`;
    await page.getByText(said).waitFor();
    accounts.push(await tollgate.admin("accounts", "show", account));
  }
  await context.close();
  return { made, renamed, lifted, rotated, accounts, refusals };
}

async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator("dialog").waitFor({ state: "detached" });
}
