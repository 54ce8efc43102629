import { afterAll, expect, test } from "@jest/globals";
import { stop } from "esbuild";
import { readShipped } from "../../scripts/package/shipped.ts";
import { writeBillOfMaterials } from "../../scripts/release/bill-of-materials.ts";

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly { license?: { id?: string; name?: string }; expression?: string }[];
  readonly hashes?: readonly { alg: string; content: string }[];
}

interface Bill {
  readonly bomFormat: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

// Its process, which bundles for this one.
afterAll(stop);

test("the bill of materials has the packages that ship, those alone, each with its licence and checksum", async () => {
  const [bill, shipped] = await Promise.all([writeBillOfMaterials(), readShipped()]);
  const { bomFormat, metadata, components, dependencies } = JSON.parse(bill) as Bill;
  expect([bomFormat, metadata.component.name]).toEqual(["CycloneDX", "tollgate"]);
  expect(components.map(({ name, version }) => `${name}@${version}`).toSorted()).toEqual([...shipped].toSorted());
  // of the program, of the console, and of what npm installs beside it
  expect([...shipped].map((name) => name.replace(/@[^@]+$/, ""))).toEqual(
    expect.arrayContaining(["pg", "koa", "undici", "preact", "uplot", "@connectrpc/connect"]),
  );
  expect(components.filter(({ licenses = [] }) => licenses.length === 0).map(({ purl }) => purl)).toEqual([]);
  expect(components.filter(({ hashes = [] }) => hashes.length === 0).map(({ purl }) => purl)).toEqual([]);
  const refs = new Set([`tollgate@${metadata.component.version}`, ...shipped]);
  expect(dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]).filter((ref) => !refs.has(ref))).toEqual([]);
}, 60_000);
