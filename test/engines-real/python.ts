import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cached, cacheFolder, logOf } from "./cache.ts";
import { runCommand } from "./programs.ts";

/** Installs packages side by side and from wheels, where pip takes them one after the other. */
const uv = "uv==0.13.8";

/** A virtual environment of Python. */
export interface PythonPackages {
  readonly name: string;
  /** As pip takes them, with exact versions. */
  readonly packages: readonly string[];
  /** What stands for the versions that packages ask for. */
  readonly overrides?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

/** The folder of the environment's programs, made and filled unless it is there. Throws Unavailable. */
export async function installPython({ name, packages, overrides = [], env = {} }: PythonPackages): Promise<string> {
  const folder = cached("python", name);
  const mark = join(folder, "installed.txt");
  const wanted = JSON.stringify([...packages, ...overrides]);
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) {
    return join(folder, "bin");
  }
  const log = logOf(`install-${name}`);
  const tools = cached("python", "tools");
  await runCommand(["python3", "-m", "venv", "--clear", tools], { log });
  await runCommand([join(tools, "bin/pip"), "install", "--quiet", uv], { log });
  const program = join(tools, "bin/uv");
  await runCommand([program, "venv", "--clear", folder], { log });
  const overridesFile = join(cacheFolder, `${name}-overrides.txt`);
  writeFileSync(overridesFile, overrides.join("\n"));
  await runCommand([program, "pip", "install", "--python", folder, "--override", overridesFile, ...packages], {
    log,
    env: { UV_CACHE_DIR: cached("uv"), ...env },
  });
  writeFileSync(mark, wanted);
  return join(folder, "bin");
}
