import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { templatesFolder } from "#src/delivery/mail/template-files.ts";
import { bundle } from "../package/bundle.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The program as the npm package has it, for a run: a start of it takes half the CPU of one from the sources. */
export interface BuiltProgram {
  readonly launcher: string;
  remove(): Promise<void>;
}

export async function buildProgram(): Promise<BuiltProgram> {
  const folder = await mkdtemp(join(tmpdir(), "tollgate-program-"));
  await bundle(join(folder, "dist"), { node: process.versions.node, inParts: true, extension: ".js" });
  for (const path of ["bin", "package.json", join("gen", "openapi.json"), templatesFolder]) {
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  for (const path of ["console", "native"]) {
    await symlink(join(root, path), join(folder, path)); // what was built and installed apart
  }
  return { launcher: join(folder, "bin", "tollgate.js"), remove: () => rm(folder, { recursive: true, force: true }) };
}
