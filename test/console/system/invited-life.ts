import axe from "axe-core";
import { judge } from "../look/judge.ts";
import type { Stage } from "../stage/stage.ts";
import { continueWithProvider } from "./identity-life.ts";

interface Life {
  /** What there is to press for somebody without an account. */
  readonly buttons: readonly string[];
  /** Where each page of the console leads. */
  readonly led: readonly string[];
  /** Calls that were refused meanwhile. */
  readonly refused: readonly string[];
  /** Where one gets who uses an invitation, loses the answer, opens the page anew and uses it again. */
  readonly opened: string;
  /** What is said once the session was ended elsewhere. */
  readonly ended: string;
  readonly faults: readonly string[];
}

const pages = ["/overview", "/keys", "/money?checkout=x", "/models/tollgate-sim/plain", "/requests/x", "/audit", "/"];

/** Signs in where one has to be invited, looks around, and comes into an account. */
export async function comeInvited(stage: Stage): Promise<Life> {
  const { id: account } = (await stage.tollgate.admin("accounts", "create", "--name", "Acme")) as { id: string };
  const invite = ["accounts", "invite", account, "--role", "developer", "--url", stage.origin];
  const { url } = (await stage.tollgate.admin(...invite)) as { url: string };
  const { context, page } = await stage.visit();
  await context.addInitScript({ content: axe.source });
  await page.goto(`/sign-in?next=${encodeURIComponent("/\\elsewhere.example/page")}`); // browsers take it for a host
  await continueWithProvider(page, "guest");
  const field = page.getByLabel("Invitation");
  await field.waitFor();
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) {
      refused.push(`${response.status()} ${response.url()}`);
    }
  });
  const buttons = await page.getByRole("button").allTextContents();
  const faults = [...(await judge(page, "waiting for an invitation"))];
  const led: string[] = [];
  for (const path of pages) {
    await page.goto(path);
    await field.waitFor();
    led.push(new URL(page.url()).pathname);
  }
  await page.keyboard.press("Control+k");
  const meanwhile = [...refused];
  await field.fill(url);
  await page.getByRole("button", { name: "Open the invitation" }).click();
  const accept = page.getByRole("button", { name: "Accept the invitation" });
  await accept.waitFor();
  faults.push(...(await judge(page, "the invitation")));
  await page.route("**/AcceptInvitation", async (route) => {
    await route.fetch();
    await route.abort();
  });
  await accept.click();
  await page.getByRole("alert").waitFor();
  await page.unroute("**/AcceptInvitation");
  await page.reload();
  await accept.click();
  await page.waitForURL("**/overview");
  await page.locator('[data-name="balance"]').waitFor();
  const opened = new URL(page.url()).pathname;
  await stage.tollgate.admin("sessions", "end-all", account);
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  const ended = (await page.getByRole("status").textContent()) ?? "";
  await context.close();
  return { buttons, led, refused: meanwhile, opened, ended, faults };
}
