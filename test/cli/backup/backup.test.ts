import { existsSync, readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { databases, dialects, emptyDatabases } from "../../money/databases.ts";
import { runHere } from "../../support/run-here.ts";
import { createSite, freePorts, type Site, startTollgate, type Tollgate } from "../../support/tollgate.ts";

const newDatabase = databases();
const emptyDatabase = emptyDatabases();
const secrets = {
  TOLLGATE_OPERATOR_TOKEN: "the-token-of-the-operator-of-a-test",
  TOLLGATE_KEY_PEPPER: "the-pepper-of-all-keys-of-a-test-00",
};

const sites: Site[] = [];
const running: Tollgate[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((service) => service.stop()));
  await Promise.all(sites.splice(0).map((site) => site.remove()));
});

/** A service's folder, with its money in a file of its own or in a database of the server. */
async function makeSite(dialect: (typeof dialects)[number], database: typeof newDatabase): Promise<Site> {
  const env = { ...secrets, ...(dialect === "postgresql" && { TOLLGATE_STORAGE_URL: await database(dialect) }) };
  const site = await createSite(env);
  sites.push(site);
  return site;
}

async function start(site: Site): Promise<Tollgate> {
  const service = await startTollgate(site, "serve", "--config", await site.configure(freePorts));
  running.push(service);
  return service;
}

async function startAndEnd(site: Site): Promise<void> {
  await start(site);
  await running.pop()?.stop();
}

async function ask(service: Tollgate, key: string): Promise<number> {
  const response = await fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "tollgate-sim/plain",
      max_tokens: 5,
      messages: [{ role: "user", content: "Hello" }],
    }),
  });
  await response.text();
  return response.status;
}

describe.each(dialects)("a backup of %s", (from) => {
  test.each(dialects)(
    "taken while it runs is restored into an empty %s, with books that hold",
    async (to) => {
      const source = await makeSite(from, newDatabase);
      const before = await start(source);
      const { id } = (await before.admin("accounts", "create", "--name", "Aster Labs")) as { id: string };
      const { key } = (await before.admin("keys", "create", id)) as { key: string };
      expect(await ask(before, key)).toBe(200);
      const file = join(source.folder, "backup.db");
      const taken = await runHere(["backup", file], source.env);
      expect(taken).toMatchObject({
        code: 0,
        notes: expect.stringContaining("The key pepper and the operators' token"),
      });
      expect(readFileSync(file).subarray(0, 6).toString()).toBe("SQLite");
      expect(await runHere(["backup", file], source.env)).toMatchObject({ code: 1, notes: /is there already/ });

      const target = await makeSite(to, emptyDatabase);
      expect(await runHere(["restore", file], target.env)).toMatchObject({
        code: 0,
        output: expect.stringMatching(/accounts +\d/),
      });
      expect(await runHere(["restore", file], target.env)).toMatchObject({ code: 1 });
      const after = await start(target);
      expect(await after.admin("accounts", "show", "aster labs")).toMatchObject({ id, name: "Aster Labs" });
      // A file's core leases whole lots. Where there may be other cores, these come back once it counts as dead.
      if (from === "postgresql" || to === "sqlite") {
        expect(await ask(after, key)).toBe(200);
        expect(await after.admin("reconcile")).toMatchObject({ ok: true });
      }
    },
    60_000,
  );
});

test.each(dialects)("what is no backup, and a folder that is not there, are told by name (%s)", async (dialect) => {
  const site = await makeSite(dialect, newDatabase);
  const text = join(site.folder, "notes.txt");
  await writeFile(text, "hello");
  for (const wrong of [text, site.folder]) {
    const { code, notes } = await runHere(["restore", wrong], site.env);
    expect([code, notes]).toEqual([1, `tollgate: ${wrong} is no backup: tollgate backup writes a file of SQLite`]);
  }
  const nowhere = join(site.folder, "no", "folder");
  const { code, notes } = await runHere(["backup", join(nowhere, "backup.db")], site.env);
  expect([code, notes]).toEqual([1, `tollgate: there is no folder ${nowhere}: make it, or name a file elsewhere`]);
  expect(existsSync(nowhere)).toBe(false);
});

test("a data directory that is not empty is left as it is", async () => {
  const site = await makeSite("sqlite", newDatabase);
  await mkdir(join(site.folder, "data", "cores"), { recursive: true });
  await writeFile(join(site.folder, "backup.db"), "");
  const { code, notes } = await runHere(["restore", join(site.folder, "backup.db")], site.env);
  expect([code, notes]).toEqual([
    1,
    expect.stringMatching(/cores is there already: restore into an empty data directory$/),
  ]);
  expect(existsSync(join(site.folder, "data", "tollgate.db"))).toBe(false);
});

test.each(dialects)(
  "a backup that is damaged or cut off is told by name, and leaves nothing behind (%s)",
  async (dialect) => {
    const source = await makeSite("sqlite", newDatabase);
    await startAndEnd(source);
    const whole = join(source.folder, "backup.db");
    expect((await runHere(["backup", whole], source.env)).code).toBe(0);
    const bytes = await readFile(whole);
    const broken = join(source.folder, "broken.db");
    const target = await makeSite(dialect, emptyDatabase);
    for (const damaged of [bytes.subarray(0, bytes.length / 2), Buffer.from(bytes).fill(0xff, bytes.length / 2)]) {
      await writeFile(broken, damaged);
      const { code, notes } = await runHere(["restore", broken], target.env);
      expect([code, notes]).toEqual([1, `tollgate: ${broken} is damaged or cut off: restore another backup`]);
    }
    expect((await runHere(["restore", whole], target.env)).code).toBe(0);
  },
  60_000,
);
