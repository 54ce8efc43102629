// Generates documents from the schema of the configuration and from the command line: `npm run generate`
// writes it, a test checks that it is fresh.

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { configJsonSchema } from "#src/config/json-schema.ts";
import { commandReference } from "./commands.ts";
import { configurationReference } from "./configuration.ts";
import { withGenerated } from "./markdown.ts";
import { reasonReference } from "./reasons.ts";

/** Each file below the root and what makes it from what it was. */
export const generated: Readonly<Record<string, (before: string) => string>> = {
  "deploy/tollgate.schema.json": () => `${JSON.stringify(configJsonSchema(), undefined, 2)}\n`,
  "docs/configuration.md": (before) => withGenerated(before, configurationReference()),
  "docs/reasons.md": (before) => withGenerated(before, reasonReference()),
  "docs/commands.md": (before) => withGenerated(before, commandReference()),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, make] of Object.entries(generated)) {
    const file = fileURLToPath(new URL(`../../${name}`, import.meta.url));
    await writeFile(file, make(await readFile(file, "utf8").catch(() => "")));
  }
}
