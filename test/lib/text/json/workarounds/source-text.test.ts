import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "@jest/globals";

const compiler = fileURLToPath(new URL("../../../../../node_modules/.bin/tsc", import.meta.url));

/** What TypeScript says of a program; nothing when it has no objection. */
async function compile(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-types-"));
  try {
    const file = join(folder, "program.ts");
    await writeFile(file, program);
    const options = ["--noEmit", "--ignoreConfig", "--target", "esnext", "--lib", "esnext", file];
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, ...options]);
    return stdout;
  } catch (error) {
    return (error as { readonly stdout: string }).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("TypeScript alone refuses JSON.rawJSON, so the workaround is still needed", async () => {
  expect(await compile('JSON.stringify("declared");')).toBe("");
  expect(await compile('JSON.rawJSON("1");')).toContain("Property 'rawJSON' does not exist");
});
