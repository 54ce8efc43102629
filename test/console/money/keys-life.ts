import type { Stage } from "../stage/stage.ts";

interface Shown {
  readonly names: readonly string[];
  readonly count: string;
}

interface Life {
  /** The first two keys, and the last two once there are no more to be shown. */
  readonly first: Shown;
  readonly more: Shown;
}

/** Looks at an account with one key more than a page has, the oldest of which is revoked. */
export async function listManyKeys({ tollgate, makeLink, visit }: Stage): Promise<Life> {
  const options = ["--name", "Many keys", "--max-keys", "200"];
  const { id: account } = (await tollgate.admin("accounts", "create", ...options)) as { id: string };
  const create = async (name: string) =>
    ((await tollgate.admin("keys", "create", account, "--name", name)) as { id: string }).id;
  const oldest = await create("key 0");
  for (let number = 1; number <= 100; number++) {
    await create(`key ${number}`);
  }
  await tollgate.admin("keys", "revoke", oldest);
  const { context, page } = await visit();
  await page.goto(await makeLink());
  await page.goto(`/accounts/${account}?tab=keys`);
  const names = page.getByRole("table", { name: "Keys" }).getByRole("rowheader");
  const count = page.locator(".below-table > span");
  await count.waitFor();
  const first = { names: (await names.allInnerTexts()).slice(0, 2), count: (await count.textContent()) ?? "" };
  await page.getByRole("button", { name: "Show more" }).click();
  await count.getByText("101 keys").waitFor();
  const more = { names: (await names.allInnerTexts()).slice(-2), count: (await count.textContent()) ?? "" };
  await context.close();
  return { first, more };
}
