import type { Request } from "playwright-core";
import type { Stage } from "../stage/stage.ts";
import { addDevice } from "../system/passkey-life.ts";

interface Life {
  /** Where the browser says that it comes from. */
  readonly from: string;
  /** What the page says while it cannot ask, and once the event is late. */
  readonly lost: string;
  readonly late: string;
  /** Whether the person is still signed in on the page, and on the next one. */
  readonly stays: readonly string[];
}

/** Pays on a page of another site, whose events are lost, and comes back while the console cannot be asked. */
export async function comeBack(stage: Stage): Promise<Life> {
  const { context, page } = await stage.visit({ baseURL: stage.origin.replace("127.0.0.1", "localhost") });
  await page.clock.install();
  await addDevice(context, page);
  await page.goto("/sign-in");
  await page.getByText("You are new here").click();
  await page.getByLabel("Your name").fill("Penelope");
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await page.waitForURL("**/overview");
  await page.goto("/money");
  await page.getByRole("button", { name: "Buy credit" }).click();
  await page.getByRole("button", { name: "Continue to payment" }).click();
  await page.getByRole("button", { name: "Pay", exact: true }).waitFor();

  stage.stripe.events.faults.lose = true;
  await page.route("**/GetCheckout", (route) => route.abort());
  const isReturn = (request: Request) => request.isNavigationRequest() && request.url().includes("/money?checkout=");
  const [request] = await Promise.all([
    page.waitForRequest(isReturn),
    page.getByRole("button", { name: "Pay", exact: true }).click(),
  ]);
  const from = (await request.allHeaders())["sec-fetch-site"] ?? "";
  const notice = page.getByRole("status");
  const lost = (await notice.getByText("cannot be asked").textContent()) ?? "";
  await page.unroute("**/GetCheckout");
  await notice.getByText("cannot be asked").waitFor({ state: "detached" });
  await page.clock.fastForward(20_000);
  const late = (await notice.getByText("longer than usual").textContent()) ?? "";
  await page.getByText("25.00 USD added.").waitFor({ timeout: 60_000 });
  const stays = [new URL(page.url()).pathname];
  await page.goto("/people");
  await page.getByRole("heading", { level: 1, name: "People" }).waitFor();
  stays.push(new URL(page.url()).pathname);
  stage.stripe.events.faults.lose = false;
  await context.close();
  return { from, lost, late, stays };
}

/** Buys credit for a customer on the account's page, and looks at the card. Returns where the provider leads back to. */
export async function buyForCustomer({ tollgate, makeLink, visit }: Stage): Promise<readonly string[]> {
  const { id: account } = (await tollgate.admin("accounts", "create", "--name", "Invoiced")) as { id: string };
  const { context, page } = await visit();
  const places: string[] = [];
  const note = async () => {
    await page.getByRole("heading", { level: 1, name: "Invoiced" }).waitFor();
    const { pathname, searchParams } = new URL(page.url());
    places.push(`${pathname.replace(account, "ID")} ${[...searchParams.keys()]} ${searchParams.get("tab")}`);
  };
  await page.goto(await makeLink());
  await page.goto(`/accounts/${account}?tab=payments`);
  await page.getByRole("button", { name: "Buy credit" }).click();
  await page.getByRole("button", { name: "Continue to payment" }).click();
  await page.getByRole("button", { name: "Pay", exact: true }).click();
  await page.getByText("25.00 USD added.").waitFor();
  await note();
  await page.getByRole("button", { name: "Card, address and tax id" }).click();
  await page.getByRole("link", { name: "Back" }).click();
  await note();
  await context.close();
  return places;
}
