// Prints what CHANGELOG.md says of a version: `node scripts/release/notes.ts 0.1.0`.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The notes of a version, as Markdown. Throws when the changelog has no section for it, or an empty one. */
export function readNotes(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) => text.split("\n", 1)[0]?.trim() === version);
  const notes = section?.slice(section.indexOf("\n")).trim() ?? "";
  if (notes === "") {
    throw new Error(`CHANGELOG.md says nothing of ${version}: move its entries under "## ${version}"`);
  }
  return `${notes}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const changelog = readFileSync(new URL("../../CHANGELOG.md", import.meta.url), "utf8");
  process.stdout.write(readNotes(changelog, process.argv[2] ?? ""));
}
