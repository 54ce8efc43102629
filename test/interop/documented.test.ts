import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type Service, startService } from "../support/service.ts";

let service: Service;
let directory: string;
beforeAll(async () => {
  service = await startService();
  directory = await mkdtemp(join(import.meta.dirname, "../../node_modules/.documented-")); // where imports are found
});
afterAll(async () => {
  await rm(directory, { recursive: true });
  await service[Symbol.asyncDispose]();
});

const document = await readFile(new URL("../../docs/clients.md", import.meta.url), "utf8");
const snippets = Array.from(document.matchAll(/### (.+)\n\n```js\n([\s\S]+?)```/g), ([, title = "", code = ""]) => ({
  title,
  code,
}));

test.each(snippets)("$title", async ({ code }) => {
  const file = join(directory, "snippet.mjs");
  await writeFile(file, code.replaceAll("http://127.0.0.1:8080", service.url));
  const env = { ...process.env, TOLLGATE_KEY: service.key };
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env });
  expect(stdout).not.toBe("");
});

test("every SDK has a snippet", () => {
  expect(snippets).toHaveLength(4);
});
