import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { runHere } from "../../support/run-here.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

// From servers that run to a configuration that serves them, and a change of it that is taken over.

let site: Site;
let simulated: Tollgate;
let server: string;
beforeAll(async () => {
  site = await createSite();
  simulated = await startTollgate(site, "serve", "--config", await site.configure(freePorts, "simulated.yaml"));
  const [first] = (await simulated.admin("servers", "list")) as { url: string }[];
  server = String(first?.url);
}, 60_000);
afterAll(async () => {
  await simulated.stop();
  await site.remove();
});

test("init writes what the servers list, once, and never over another file", async () => {
  const out = join(site.folder, "made.yaml");
  const line = ["init", "--server", server, "--server", server, "--out", out];
  expect(await runHere(line)).toMatchObject({ code: 0 });
  const { models } = parse(await readFile(out, "utf8")) as { models: { id: string; servers: { url: string }[] }[] };
  expect(models.length).toBeGreaterThan(0);
  expect(models[0]?.servers).toMatchObject([{ url: server }]);
  expect(await runHere(line)).toMatchObject({ code: 1, notes: expect.stringMatching(/is there already/) });
  expect(await runHere(["check", "--config", out], site.env)).toMatchObject({
    output: expect.stringContaining(server),
  });
});

test("reload tells what was taken over, what needs a restart, and why a wrong file is refused", async () => {
  const { output } = await runHere(["init", "--server", server]);
  const { models } = parse(output) as { models: object[] };
  const own = await createSite();
  const path = await own.configure({ ...freePorts, models });
  const service = await startTollgate(own, "serve", "--config", path, "--no-console");
  try {
    expect(await service.admin("reload")).toEqual({ reloaded: true, models: models.length, needs_restart: [] });
    await own.configure({ ...freePorts, models, keys: { prefix: "xx-" } });
    expect(await service.admin("reload")).toMatchObject({ needs_restart: ["keys"] });
    await writeFile(path, "models: 7");
    await expect(service.admin("reload")).rejects.toThrow(/refused and the old one stays/);
    await expect(simulated.admin("reload")).rejects.toThrow(/No configuration file names/);
  } finally {
    await service.stop();
    await own.remove();
  }
}, 60_000);
