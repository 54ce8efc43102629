import type { Page } from "playwright-core";
import { eventually } from "../../support/eventually.ts";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "../system/identity-life.ts";

/** A request that was refused. */
interface Refused {
  readonly why: string;
  /** The reason that the request is expected to have, by its name in the contract. */
  readonly reason: string;
  /** The x-request-id of the answer. */
  readonly id: string;
  readonly status: number;
}

/** Signs up as an owner of an account of one's own. */
export async function signInAsMember(stage: Stage): Promise<{ readonly page: Page; readonly accountId: string }> {
  const { page } = await stage.visit();
  await page.goto("/sign-in");
  await continueWithProvider(page, "refused");
  await page.waitForURL("**/overview");
  const accounts = (await stage.tollgate.admin("accounts", "list")) as { id: string; name: string }[];
  return { page, accountId: accounts.find(({ name }) => name === "refused")?.id ?? "" };
}

/** Has requests of an account refused, each for another reason. */
export async function refuseInAllWays({ tollgate }: Stage, account: string): Promise<readonly Refused[]> {
  const makeKey = (...options: string[]) =>
    tollgate.admin("keys", "create", account, ...options) as Promise<{ id: string; key: string }>;
  const send = async (key: string, model: string, body?: string) => {
    const asked = { model, max_tokens: 50, messages: [{ role: "user", content: "Hello" }] };
    const response = await fetch(`${tollgate.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: body ?? JSON.stringify(asked),
    });
    await response.text();
    return { id: response.headers.get("x-request-id") ?? "", status: response.status };
  };
  const usual = await makeKey();
  const refused: Refused[] = [];
  const note = async (why: string, reason: string, answer: ReturnType<typeof send>) =>
    void refused.push({ why, reason, ...(await answer) });

  await note("the balance is spent", "BALANCE_EXHAUSTED", send(usual.key, "up"));
  await tollgate.admin("accounts", "top-up", account, "--usd", "10", "--ref", "r");
  await note("no such model", "MODEL_NOT_FOUND", send(usual.key, "sideways"));
  await eventually("the model is known to be down", async () => (await send(usual.key, "down")).status === 503);
  await note("no server of the model is up", "NO_SERVER", send(usual.key, "down"));
  await note("the body is too large", "REQUEST_TOO_LARGE", send(usual.key, "up", `"${"x".repeat(3 * 1024 * 1024)}"`));
  await note("the body is broken", "INVALID_ARGUMENT", send(usual.key, "up", "{"));
  const rare = await makeKey("--rpm", "1");
  await send(rare.key, "up");
  await note("the key's rate", "RATE_LIMITED", send(rare.key, "up"));
  const poor = await makeKey("--usd", "0.000001");
  await note("the key's budget", "BUDGET_EXHAUSTED", send(poor.key, "up"));
  const narrow = await makeKey("--models", "down");
  await note("a key for other models", "MODEL_NOT_FOUND", send(narrow.key, "up"));
  const office = await makeKey("--manages");
  await note("a key that only manages", "PERMISSION_DENIED", send(office.key, "up"));
  const ended = await makeKey();
  await tollgate.admin("keys", "revoke", ended.id);
  await note("the key is revoked", "UNAUTHENTICATED", send(ended.key, "up"));
  await tollgate.admin("accounts", "freeze", account, "--reason", "A test.");
  await note("the account is frozen", "ACCOUNT_FROZEN", send(usual.key, "up"));
  return refused;
}

/** Pastes the ids of requests into the search, and reads what the pages say that it opens. */
export async function readReasons(page: Page, refused: readonly Refused[]): Promise<readonly string[]> {
  const told: string[] = [];
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  for (const { id, why } of refused) {
    await page.keyboard.press("Control+k");
    const dialog = page.getByRole("dialog");
    // The record is written in groups, some hundred milliseconds later.
    await eventually(`${why}: its request is found`, async () => {
      await dialog.getByRole("textbox").fill("");
      await dialog.getByRole("textbox").fill(id);
      return dialog
        .getByRole("link", { name: /^request/ })
        .waitFor({ timeout: 2000 })
        .then(
          () => true,
          () => false,
        );
    });
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Request", exact: true }).waitFor();
    await page.getByRole("main").getByText(id).waitFor();
    told.push((await page.getByRole("main").locator(".notice").textContent()) ?? "");
  }
  return told;
}
