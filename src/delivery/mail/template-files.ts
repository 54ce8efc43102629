import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readPackagedFolder } from "#lib/files/assets.ts";
import { mailKinds } from "./kinds.ts";
import { layoutFile, type TemplateFiles } from "./templates.ts";

/** Where Tollgate's templates are, below the program's folder. */
export const templatesFolder = "assets/mail";

/** Reads Tollgate's templates; those of the folder take the place of the ones of the same names. */
export async function readTemplates(folder: string | undefined): Promise<TemplateFiles> {
  const files = new Map([...readPackagedFolder(templatesFolder)].map(([name, bytes]) => [name, toText(bytes)]));
  if (folder !== undefined) {
    for (const name of [layoutFile, ...Object.keys(mailKinds).map((kind) => `${kind}.txt`)]) {
      const own = await readIfThere(join(folder, name));
      files.set(name, own ?? files.get(name) ?? "");
    }
  }
  return files;
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
