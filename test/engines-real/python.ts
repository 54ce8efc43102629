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

/** The tools that install: pip and uv. */
async function installTools(log: string): Promise<string> {
  const tools = cached("python", "tools");
  await runCommand(["python3", "-m", "venv", "--clear", tools], { log });
  await runCommand([join(tools, "bin/pip"), "install", "--quiet", uv], { log });
  return join(tools, "bin");
}

/** The folder of a package's source, such as `name==1.0`, which is not built. Throws Unavailable. */
export async function downloadSource(requirement: string): Promise<string> {
  const [name = ""] = requirement.split("==");
  const folder = cached("source", requirement);
  const mark = join(folder, "PKG-INFO");
  if (!existsSync(mark)) {
    const log = logOf(`source-${name}`);
    const archives = cached("source", "archives");
    const pip = join(await installTools(log), "pip");
    await runCommand([pip, "download", "--no-deps", "--no-binary", name, "--dest", archives, requirement], { log });
    const archive = `${requirement.replaceAll("-", "_").replace("==", "-")}.tar.gz`;
    await runCommand(["tar", "xzf", join(archives, archive), "--strip-components", "1", "--directory", folder], {
      log,
    });
  }
  return folder;
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
  const program = join(await installTools(log), "uv");
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
