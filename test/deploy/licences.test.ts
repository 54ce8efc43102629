import { afterAll, expect, test } from "@jest/globals";
import { stop } from "esbuild";
import { writeBillOfMaterials } from "../../scripts/release/bill-of-materials.ts";

// What ships may be sold with a service: licences that ask for no more than a notice.

const allowed = new Set([
  "MIT",
  "MIT-0",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "Unlicense",
  "OFL-1.1", // a font may be sold inside of something
]);

/** Of a choice one allowed licence is enough; of several that hold together, all have to be. */
function isAllowed(licence: string): boolean {
  const choices = licence.replace(/^\(|\)$/g, "").split(" OR ");
  return choices.some((choice) => choice.split(" AND ").every((one) => allowed.has(one)));
}

interface Component {
  readonly name: string;
  readonly licenses?: readonly { readonly license?: { readonly id?: string }; readonly expression?: string }[];
}

/** A package's licences as it tells them; all of them hold. */
const toText = ({ licenses = [] }: Component) =>
  licenses.map(({ license, expression }) => license?.id ?? expression ?? "unknown").join(" AND ");

// Its process, which bundles for this one.
afterAll(stop);

test("every package that ships has a licence that allows commercial use", async () => {
  const { components } = JSON.parse(await writeBillOfMaterials()) as { components: readonly Component[] };
  expect(components.length).toBeGreaterThan(50);
  expect(components.filter((component) => !isAllowed(toText(component))).map(({ name }) => name)).toEqual([]);
}, 60_000);

test("a licence that asks for more is found, a choice and a sum are understood", () => {
  expect(
    ["GPL-3.0", "(MIT OR GPL-2.0)", "MIT AND GPL-2.0", "(MIT AND ISC)", "undefined"].map((one) => isAllowed(one)),
  ).toEqual([false, true, false, true, false]);
});
