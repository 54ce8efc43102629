import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mutation } from "./mutation.ts";

/** What tests and simulation need of the tree. */
const copied = [
  "package.json",
  "jest.config.js",
  "tsconfig.json",
  "bin",
  "client",
  "docs",
  "facades",
  "gen",
  "lib",
].concat(["proto", "scripts", "simulator", "src", "test"]);
/** What is large and never changed. */
const linked = ["node_modules", "native", "console"];

/** A copy of the tree, in which mutations are tried one after the other. */
export class Copy {
  readonly root: string;

  private constructor(root: string) {
    this.root = root;
  }

  static async make(of: string): Promise<Copy> {
    const root = await mkdtemp(join(tmpdir(), "tollgate-mutations-"));
    for (const name of copied) {
      await cp(join(of, name), join(root, name), { recursive: true });
    }
    await mkdir(join(root, "build"), { recursive: true });
    for (const name of linked) {
      await symlink(join(of, name), join(root, name));
    }
    return new Copy(root);
  }

  /** Runs a function while a mutation is in the copy. */
  async with<T>(mutation: Mutation, run: () => Promise<T>): Promise<T> {
    const path = join(this.root, mutation.file);
    const text = await readFile(path, "utf8");
    await writeFile(path, mutate(text, mutation));
    try {
      return await run();
    } finally {
      await writeFile(path, text);
    }
  }

  remove(): Promise<void> {
    return rm(this.root, { recursive: true, force: true });
  }
}

/** A text with a mutation in it. Throws when the text that it replaces is not there, or not once. */
export function mutate(text: string, { file, find, replace }: Pick<Mutation, "file" | "find" | "replace">): string {
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new Error(`${file} has this ${parts.length - 1} times and not once: ${find}`);
  }
  return parts.join(replace);
}
