import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { Browser } from "playwright-core";
import { startChromium } from "../../../scripts/test-services/chromium.ts";
import { freePort } from "../../../scripts/test-services/free-port.ts";
import { runInShell } from "../../console/journey/visitor.ts";
import { addDevice } from "../../console/system/passkey-life.ts";
import { eventually } from "../../support/eventually.ts";
import { readPage } from "./page.ts";
import { Shell } from "./shell.ts";

// The page as it stands: every command in a shell, every button in a browser.

let shell: Shell;
let browser: Browser;
beforeAll(async () => {
  [shell, browser] = await Promise.all([Shell.open(), startChromium()]);
}, 60_000);
afterAll(async () => {
  await browser?.close();
  await shell?.close();
}, 60_000);

test("docs/first-day.md leads to the first customer who pays", async () => {
  const names = ["8000", "8080", "8081", "8600", "50053"] as const;
  const ports = new Map<string, number>();
  for (const name of names) {
    ports.set(name, await freePort());
  }
  const at = (name: (typeof names)[number]) => `127.0.0.1:${ports.get(name)}`;
  const page = readPage(ports);
  const listen = { http: at("8080"), console: at("8081"), webhooks: at("50053") };
  const others = { grpc: "127.0.0.1:0", connect: "127.0.0.1:0", admin: "127.0.0.1:0" };
  const configuration = `${page.configuration}\nlisten: ${JSON.stringify({ ...listen, ...others })}\n`;
  await writeFile(join(shell.site.folder, "tollgate.yaml"), configuration);

  const [engine, ...commands] = page.commands;
  expect(engine).toMatch(/^vllm serve /); // the next one stands in for it
  const said: string[] = [];
  let answers = 0;
  for (const command of commands) {
    if (/\btollgate (sim|serve)\b/.test(command)) {
      shell.start(command);
      const address = [at("8000"), at("8600"), at("8081")][answers++] ?? "";
      await eventually(`${command} answers`, () => fetch(`http://${address}/`).catch(() => undefined));
      if (address === at("8081")) {
        expect(await becomeCustomer(`http://localhost:${ports.get("8081")}`)).toEqual(page.buttons);
      }
    } else {
      said.push(await shell.run(command));
    }
  }
  expect(said).toEqual([
    expect.stringContaining("takes the key"),
    expect.stringMatching(/ credited .* Ada .* qwen\/qwen3-8b .*\nok +yes/s),
  ]);
}, 240_000);

/** Buys credit and sends a request, as the page tells a stranger. Returns what was pressed. */
async function becomeCustomer(address: string): Promise<readonly string[]> {
  const context = await browser.newContext({ locale: "en-US" });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  await addDevice(context, page);
  const pressed: string[] = [];
  const press = async (name: string, role: "button" | "link" = "button") => {
    pressed.push(name);
    await page.getByRole(role, { name, exact: true }).click();
  };
  await page.goto(address);
  await page.getByText("qwen/qwen3-8b").first().waitFor();
  await press("Sign in", "link");
  pressed.push("You are new here");
  expect(await page.locator(".brand").textContent()).toBe("Example Inference");
  await page.getByText("You are new here").click();
  await page.getByLabel("Your name").fill("Ada");
  await press("Create a passkey");
  await press("Buy credit", "link");
  await page.getByRole("button", { name: "Buy credit" }).click();
  await page.getByRole("dialog").getByRole("cell").first().waitFor(); // the prices
  await press("Continue to payment");
  await press("Pay");
  await page.getByText("25.00 USD added.").waitFor();
  await press("Overview", "link");
  await press("Create a key");
  const command = (await page.locator("code", { hasText: "curl " }).textContent()) ?? "";
  expect(await runInShell(command)).toMatch(/\w/);
  await press("Done");
  await page.locator('main a[href^="/receipts/"]').first().click();
  await page.getByText("The lines add up to the cost").waitFor();
  expect(await page.title()).toBe("Receipt · Example Inference");
  await context.close();
  return pressed;
}
