import type { BrowserContext, Page } from "playwright-core";
import type { Stage } from "../stage/stage.ts";

interface Life {
  /** What a new account without free money is led through. */
  readonly steps: readonly string[];
  /** The names of the passkeys, after the second was made and after it was removed. */
  readonly passkeys: readonly (readonly string[])[];
  /** What is said when the last one is to be removed. */
  readonly kept: string;
  /** Where one gets with the passkey after signing out. */
  readonly opened: string;
  /** What is said when the person does not prove to be there. */
  readonly refused: string;
  /** Where the sign-in page leads that was opened by a number, for which no browser makes passkeys. */
  readonly byName: string;
}

/** Signs up with a passkey of the browser's own virtual authenticator, signs in again, adds another and removes it. */
export async function liveWithPasskeys(stage: Stage): Promise<Life> {
  const baseURL = stage.origin.replace("127.0.0.1", "localhost");
  const { context, page } = await stage.visit();
  await page.goto("/sign-in");
  const byName = (await page.getByRole("link", { name: "Use a passkey" }).getAttribute("href")) ?? "";
  await page.goto(byName);
  const device = await addDevice(context, page);
  await page.getByText("You are new here").click();
  await page.getByLabel("Your name").fill("Hedy");
  await page.getByRole("button", { name: "Create a passkey" }).click();
  await page.waitForURL("**/overview");
  await page.locator('[data-name="balance"]').waitFor();
  const heading = page.getByRole("region", { name: "First steps" }).getByRole("heading");
  await heading.first().waitFor();
  const steps = await heading.allTextContents();
  await page.getByRole("button", { name: "Sign out" }).click();
  await device.prove(false);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  const refused = (await page.getByRole("alert").textContent()) ?? "";
  await device.prove(true);
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.waitForURL("**/overview");
  const opened = page.url().replace(baseURL, "");

  await page.goto(`${baseURL}/people`);
  const names = page.getByRole("table", { name: "Your passkeys" }).getByRole("rowheader");
  // The device has one of hers: it makes no other. Another device does.
  await device.remove();
  await addDevice(context, page);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("phone");
  await page.getByRole("dialog").getByRole("button", { name: "Add" }).click();
  await names.nth(1).waitFor();
  const both = await names.allTextContents();
  await page.getByRole("row").filter({ hasText: "phone" }).getByRole("button", { name: "Remove" }).click();
  await names.nth(1).waitFor({ state: "detached" });
  const left = await names.allTextContents();
  await page.getByRole("row").filter({ hasText: "Hedy" }).getByRole("button", { name: "Remove" }).click();
  const kept = (await page.getByRole("alert").textContent()) ?? "";
  await context.close();
  return { steps, passkeys: [both, left], kept, opened, refused, byName: byName.replace(baseURL, "") };
}

/** A device that keeps passkeys, and asks its owner by itself. */
export async function addDevice(context: BrowserContext, page: Page) {
  const devtools = await context.newCDPSession(page);
  await devtools.send("WebAuthn.enable");
  const { authenticatorId } = await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      ...{ protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    /** Whether the owner proves to be there. */
    prove: (isUserVerified: boolean) => devtools.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified }),
    remove: () => devtools.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId }),
  };
}
