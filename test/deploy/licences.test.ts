import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { root } from "./files.ts";

// What is installed for production may be sold with a service: licences that ask for no more than a notice.

const allowed = new Set([
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "Unlicense",
]);

interface Package {
  readonly dev?: boolean;
  readonly optional?: boolean;
}

const lock = JSON.parse(await readFile(join(root, "package-lock.json"), "utf8")) as {
  packages: Record<string, Package>;
};
const production = Object.entries(lock.packages)
  .filter(([path, { dev }]) => path !== "" && !dev && existsSync(join(root, path, "package.json")))
  .map(([path]) => path);

async function licenceOf(path: string): Promise<string> {
  const { license } = JSON.parse(await readFile(join(root, path, "package.json"), "utf8")) as { license?: unknown };
  return typeof license === "string" ? license : JSON.stringify(license);
}

/** Of a choice one allowed licence is enough; of several that hold together, all have to be. */
function isAllowed(licence: string): boolean {
  const choices = licence.replace(/^\(|\)$/g, "").split(" OR ");
  return choices.some((choice) => choice.split(" AND ").every((one) => allowed.has(one)));
}

test("every production package has a licence that allows commercial use", async () => {
  expect(production.length).toBeGreaterThan(50);
  const licences = await Promise.all(production.map(async (path) => `${path}: ${await licenceOf(path)}`));
  expect(licences.filter((line) => !isAllowed(line.slice(line.indexOf(": ") + 2)))).toEqual([]);
});

test("a licence that asks for more is found, a choice and a sum are understood", () => {
  expect(
    ["GPL-3.0", "(MIT OR GPL-2.0)", "MIT AND GPL-2.0", "(MIT AND ISC)", "undefined"].map((one) => isAllowed(one)),
  ).toEqual([false, true, false, true, false]);
});
