import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { readPackagedFolder } from "#lib/files/assets.ts";
import type { TemplateFiles } from "./templates.ts";

/** Where Tollgate's templates are, below the program's folder. */
export const templatesFolder = "assets/mail";

/**
 * Reads Tollgate's templates; those of the folder take the place of the ones of the same names. Throws where the folder
 * cannot be read. One of a name that no template has is among them: it would never be used.
 */
export async function readTemplates(folder: string | undefined): Promise<TemplateFiles> {
  const files = new Map([...readPackagedFolder(templatesFolder)].map(([name, bytes]) => [name, toText(bytes)]));
  if (folder !== undefined) {
    for (const name of (await readdir(folder)).filter((file) => /\.(txt|html)$/.test(file))) {
      files.set(name, await readFile(join(folder, name), "utf8"));
    }
  }
  return files;
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
