import { execFile } from "node:child_process";
import { appendFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { recordSources } from "../../bin/built.js";

// What a clone runs, tried with its real launcher and a program of one line.

const root = fileURLToPath(new URL("../..", import.meta.url));
let clone: string;
beforeEach(async () => {
  clone = await mkdtemp(join(tmpdir(), "tollgate-clone-"));
  await Promise.all(["bin", "src", "dist/src", "scripts"].map((path) => mkdir(join(clone, path), { recursive: true })));
  await cp(join(root, "bin"), join(clone, "bin"), { recursive: true });
  await write("package.json", '{"type":"module"}');
  await write("src/main.ts", 'const what: string = "sources"; console.log(what);');
  await write("dist/src/main.js", 'console.log("built");');
});
afterEach(() => rm(clone, { recursive: true }));

const write = (path: string, text: string) => writeFile(join(clone, path), text);
const install = () => mkdir(join(clone, "node_modules", "esbuild"), { recursive: true });

/** Runs a script of the clone; what it prints, on both streams. */
async function run(script: string): Promise<{ code: number; printed: string }> {
  const ended = promisify(execFile)(process.execPath, [join(clone, script)]);
  return ended.then(
    ({ stdout, stderr }) => ({ code: 0, printed: stdout + stderr }),
    ({ code, stdout, stderr }) => ({ code, printed: stdout + stderr }),
  );
}

const start = () => run("bin/tollgate.js");

test("what was built runs until a source changes or is gone, or a build was not finished", async () => {
  await install();
  expect(await start()).toEqual({ code: 0, printed: "sources\n" });
  await write("src/gone.ts", "");
  recordSources(clone, ["src/main.ts", "src/gone.ts"]);
  expect(await start()).toEqual({ code: 0, printed: "built\n" });
  await rm(join(clone, "src/gone.ts"));
  expect(await start()).toEqual({ code: 0, printed: "sources\n" });
  recordSources(clone, ["src/main.ts"]);
  await appendFile(join(clone, "src/main.ts"), "// changed");
  expect(await start()).toEqual({ code: 0, printed: "sources\n" });
  recordSources(clone, ["src/main.ts"]);
  await write("dist/.sources.json", "{");
  expect(await start()).toEqual({ code: 0, printed: "sources\n" });
});

test("without the packages for development what was built runs, and sources say what to do", async () => {
  recordSources(clone, ["src/main.ts"]);
  expect(await start()).toEqual({ code: 0, printed: "built\n" });
  await appendFile(join(clone, "src/main.ts"), "// changed");
  const sentence = "tollgate: this clone has not the packages that its sources need: run `npm ci`, with those for";
  expect(await start()).toEqual({ code: 1, printed: expect.stringContaining(sentence) });
});

test("the end of npm ci builds, or says why nothing was built", async () => {
  await cp(join(root, "scripts/package/prepare.js"), join(clone, "scripts/package/prepare.js"));
  await write("scripts/package/build.ts", 'console.log("builds");');
  const prepare = () => run("scripts/package/prepare.js");
  expect(await prepare()).toEqual({ code: 0, printed: expect.stringContaining("A clone runs after `npm ci`") });
  await install();
  expect(await prepare()).toEqual({ code: 0, printed: "builds\n" });
});
