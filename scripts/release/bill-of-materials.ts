// Prints what ships as CycloneDX: `npm run sbom`.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { readShipped } from "../package/shipped.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Bill {
  readonly metadata: { readonly component: object };
  readonly components: readonly {
    readonly "bom-ref": string;
    readonly properties?: readonly { readonly name: string }[];
  }[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** What npm knows from the lock file of the packages that ship; in there most are needed to build the program alone. */
export async function writeBillOfMaterials(): Promise<string> {
  const args = ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "application"];
  const bill = JSON.parse(execFileSync("npm", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 })) as Bill;
  const shipped = await readShipped();
  const components = bill.components
    .filter((component) => shipped.has(component["bom-ref"]))
    .map(({ properties = [], ...component }) => ({
      ...component,
      scope: "required",
      properties: properties.filter(({ name }) => name !== "cdx:npm:package:development"),
    }));
  const listed = new Set(components.map((component) => component["bom-ref"]));
  const absent = [...shipped].filter((name) => !listed.has(name));
  if (absent.length > 0) {
    throw new Error(`the lock file does not have ${absent.join(", ")}: run "npm ci"`);
  }
  const dependencies = bill.dependencies
    .filter(({ ref }, index) => index === 0 || listed.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((name) => listed.has(name)) }));
  const metadata = { ...bill.metadata, component: { ...bill.metadata.component, name: "tollgate" } };
  return `${JSON.stringify({ ...bill, metadata, components, dependencies }, undefined, 2)}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.stdout.write(await writeBillOfMaterials());
}
