import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { parseAllDocuments } from "yaml";
import { createProgram } from "#src/cli/program.ts";

/** The repository's root. */
export const root = fileURLToPath(new URL("../..", import.meta.url));

/** The text of a file below deploy/. */
export const readDeploy = (path: string) => readFile(join(root, "deploy", path), "utf8");

/** Paths below deploy/ of all files in a folder there. */
export async function listDeploy(folder: string): Promise<string[]> {
  const entries = await readdir(join(root, "deploy", folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return files.map((file) => relative(join(root, "deploy"), file)).toSorted();
}

/** Every document of a YAML file; throws when it is none. */
export async function readYaml<T>(path: string): Promise<T[]> {
  return parseAllDocuments(await readDeploy(path), { merge: true }).map((document) => {
    if (document.errors[0] !== undefined) {
      throw document.errors[0];
    }
    return document.toJS({ maxAliasCount: 100 }) as T;
  });
}

/** What a command line says, read by the real program without running it. Throws when the program would refuse it. */
export async function parseCommand(args: readonly string[]): Promise<Record<string, unknown>> {
  const refuse = (text: string) => {
    throw new Error(text);
  };
  const program = await createProgram({ environment: {}, print: refuse, note: refuse, progress: refuse });
  let parsed: Record<string, unknown> | undefined;
  const replaceActions = (command: Command) => {
    command.action(() => {
      parsed = { command: command.name(), ...command.opts() };
    });
    command.commands.forEach(replaceActions);
  };
  program.commands.forEach(replaceActions);
  await program.parseAsync(args, { from: "user" });
  if (parsed === undefined) {
    throw new Error(`${args.join(" ")} runs no command`);
  }
  return parsed;
}

/** Names that the program reads from its environment. */
export async function environmentNames(): Promise<Set<string>> {
  const texts: string[] = [];
  for (const folder of ["lib", "src", "facades"]) {
    for (const entry of await readdir(join(root, folder), { recursive: true, withFileTypes: true })) {
      if (entry.isFile() && entry.name.endsWith(".ts")) {
        texts.push(await readFile(join(entry.parentPath, entry.name), "utf8"));
      }
    }
  }
  return new Set(texts.flatMap((text) => text.match(/\b(TOLLGATE_[A-Z_]+|NODE_ENV)\b/g) ?? []));
}
