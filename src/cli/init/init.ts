import { writeFile } from "node:fs/promises";
import { stringify } from "yaml";
import { discoverModels } from "#src/compose/embedded/models.ts";
import type { Io } from "../shared/io.ts";

const head = `# What \`tollgate init\` found. docs/configuration.md has every field.
# Check it with \`tollgate check --config FILE\`, start with \`tollgate serve --config FILE\`.
`;

/** Writes the configuration that `serve --server` would find out by itself. Throws where the file is there already. */
export async function init(servers: readonly string[], out: string | undefined, io: Io): Promise<void> {
  const text = `${head}${stringify({ models: await discoverModels(servers) })}`;
  if (out === undefined) {
    io.print(text.trimEnd());
    return;
  }
  await writeFile(out, text, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === "EEXIST" ? new Error(`${out} is there already: name another file`) : error;
  });
  io.note(`${out} is written. Start with: tollgate serve --config ${out}`);
}
