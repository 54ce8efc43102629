import type { Page } from "playwright-core";
import { Receiver } from "../../delivery/webhooks/receiver.ts";
import type { Stage } from "../stage/stage.ts";

interface Life {
  /** What the page says after each press, in order. */
  readonly said: readonly string[];
  /** The types of the events that the endpoint got. */
  readonly received: readonly string[];
  /** The state of the operator that was revoked, and whether its session was sent to sign in. */
  readonly revoked: string;
  readonly ended: string;
  /** Where the page of a model, and of the fleet, says that it is configured. */
  readonly sources: readonly string[];
}

/** Presses every button of the page Settings once, and reads where models and servers are configured. */
export async function steerBySettings(stage: Stage): Promise<Life> {
  await using receiver = await Receiver.start();
  const { tollgate } = stage;
  await tollgate.admin("webhooks", "create", "--url", receiver.url, "--events", "account.topped_up");
  const operator = await tollgate.admin("operators", "create", "--name", "Murray", "--role", "reader");
  const { token } = operator as { token: string };
  const { context, page } = await stage.visit();
  await page.goto(await stage.makeLink());
  await page.goto("/settings");
  const said: string[] = [];
  const press = async (within: ReturnType<Page["locator"]>, name: string, sentence: RegExp) => {
    await within.getByRole("button", { name, exact: true }).click();
    said.push((await page.locator(".said").filter({ hasText: sentence }).textContent()) ?? "");
  };

  const endpoint = page.getByRole("row").filter({ hasText: receiver.url });
  await press(endpoint, "Pause", /paused/);
  await endpoint.getByText("Paused").waitFor();
  await press(endpoint, "Resume", /again/);
  await endpoint.getByText("Active").waitFor();
  await press(endpoint, "Send a test", /on its way/);
  const delivery = page.getByRole("table", { name: "Deliveries" }).getByRole("row").filter({ hasText: "webhook.test" });
  await delivery.waitFor();
  while ((await delivery.getByText("delivered").count()) === 0) {
    await page.getByRole("button", { name: "Look again" }).click();
  }
  await press(delivery, "Send again", /sent again/);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await endpoint.getByRole("button", { name: "Delete", exact: true }).click();
  await press(page.getByRole("dialog"), "Delete", /nothing any more/);
  await endpoint.waitFor({ state: "detached" });

  const ended = await endSession(stage, page, token, (row) => press(row, "End", /has ended/));
  await page.getByRole("button", { name: "Revoke Murray" }).click();
  await press(page.getByRole("dialog"), "Revoke", /revoked/);
  const murray = page.getByRole("table", { name: "Operators" }).getByRole("row").filter({ hasText: "Murray" });
  await murray.getByText("Revoked").waitFor();
  const revoked = (await murray.locator(".badge").textContent()) ?? "";

  await page.getByRole("button", { name: "Show defaults, too" }).click();
  await page.getByRole("button", { name: "Only what differs from the default" }).waitFor();
  await page.getByLabel("Find", { exact: true }).fill("listen.console");
  await page.getByRole("cell", { name: "tollgate.yaml" }).waitFor();
  const sources: string[] = [];
  for (const path of ["/models/tollgate-sim/plain", "/fleet"]) {
    await page.goto(path);
    sources.push((await page.getByText(/was found at the start|is set in/).textContent()) ?? "");
  }
  await context.close();
  return { said, received: receiver.received.map(({ event }) => event.type), revoked, ended, sources };
}

/** Ends the session of an operator who looks at a filtered list. Returns where its next page is. */
async function endSession(
  stage: Stage,
  page: Page,
  token: string,
  end: (row: ReturnType<Page["locator"]>) => Promise<void>,
): Promise<string> {
  const other = await stage.visit();
  await other.page.goto("/sign-in");
  await other.page.getByText("You run this service").click();
  await other.page.getByLabel("Operator token").fill(token);
  await other.page.getByRole("button", { name: "Sign in", exact: true }).click();
  await other.page.waitForURL("**/overview");
  await other.page.goto("/requests?outcome=refused");
  await other.page.getByRole("heading", { level: 1, name: "Requests" }).waitFor();
  await page.reload();
  await end(page.getByRole("table", { name: "Sessions" }).getByRole("row").filter({ hasText: "Murray" }));
  await other.page.waitForURL(/\/sign-in/);
  const { pathname, searchParams } = new URL(other.page.url());
  await other.context.close();
  return `${pathname} to ${searchParams.get("next")}`;
}
