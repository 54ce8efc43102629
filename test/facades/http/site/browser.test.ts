import { execFile } from "node:child_process";
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import axe from "axe-core";
import type { Browser } from "playwright-core";
import { startChromium } from "../../../../scripts/test-services/chromium.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../../support/tollgate.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../../", import.meta.url));
const paths = ["/", "/models/tollgate-sim/plain", "/status", "/models/tollgate-sim/embedder", "/models/unknown"];

let site: Site;
let tollgate: Tollgate;
let browser: Browser;
let key = "";

beforeAll(async () => {
  site = await createSite();
  const config = await site.configure({
    ...freePorts,
    site: { name: "Example", address: "https://console.example.com" },
  });
  [tollgate, browser] = await Promise.all([startTollgate(site, "serve", "--config", config), startChromium()]);
  const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
  ({ key } = (await tollgate.admin("keys", "create", id)) as { key: string });
}, 120_000);

afterAll(async () => {
  await browser?.close();
  await tollgate?.stop();
  await site?.remove();
}, 60_000);

test.each(paths)(
  "%s fits 360 pixels, reads no script and no other host, and axe finds nothing",
  async (path) => {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ viewport: { width: 360, height: 740 }, colorScheme, locale: "en-US" });
      const page = await context.newPage();
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      const answer = await page.goto(tollgate.url + path);
      expect(await answer?.body()).toHaveLength(Math.min((await answer?.body())?.length ?? 0, 150_000));
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
      expect(answer?.status()).toBe(path.endsWith("unknown") ? 404 : 200);
      expect(asked.map((url) => new URL(url).origin)).toEqual([tollgate.url]);
      const { violations } = (await page.evaluate(`${axe.source};axe.run({ resultTypes: ["violations"] })`)) as {
        violations: { id: string; nodes: { html: string }[] }[];
      };
      expect(violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`)).toEqual([]);
      await context.close();
    }
  },
  60_000,
);

test("the calls on a model's page work when they are pasted", async () => {
  const page = await browser.newPage();
  await page.goto(`${tollgate.url}/models/tollgate-sim/plain`);
  const [curl = "", python = "", typescript = ""] = await page.locator("pre").allTextContents();
  await page.close();
  const env = { ...process.env, API_KEY: key };
  const { stdout } = await run("bash", ["-c", curl], { env });
  expect(JSON.parse(stdout)).toMatchObject({ object: "chat.completion", model: "tollgate-sim/plain" });
  const file = join(site.folder, "pasted.ts");
  await symlink(join(root, "node_modules"), join(site.folder, "node_modules"));
  await writeFile(file, typescript);
  expect((await run(process.execPath, [file], { env })).stdout.trim()).not.toBe("");
  expect(python).toContain(`base_url="${tollgate.url}/v1"`);
}, 60_000);
