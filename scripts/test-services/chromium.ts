import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { type Browser, chromium } from "playwright-core";

const cache = fileURLToPath(new URL("../../node_modules/.cache/chromium/", import.meta.url));
const packageFolder = fileURLToPath(new URL("../../node_modules/@sparticuz/chromium/", import.meta.url));
const decompress = promisify(brotliDecompress);

/** Starts the browser that npm brings, with the libraries and, where the machine has none, the fonts that it needs. */
export async function startChromium(): Promise<Browser> {
  const folder = await unpack();
  const fonts = existsSync("/etc/fonts") ? {} : { FONTCONFIG_PATH: join(folder, "fonts") };
  return chromium.launch({
    executablePath: join(folder, "chromium"),
    args: ["--font-render-hinting=none"],
    env: { ...(process.env as Record<string, string>), ...fonts, LD_LIBRARY_PATH: join(folder, "lib") },
  });
}

/** Unpacks it once for each version. Whoever comes second, or meanwhile, finds the whole of it. */
async function unpack(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageFolder, "package.json"), "utf8"));
  const folder = join(cache, version);
  if (existsSync(folder)) {
    return folder;
  }
  await mkdir(cache, { recursive: true });
  const unfinished = await mkdtemp(join(cache, "unfinished-"));
  await unpackProgram(unfinished);
  for (const name of ["al2023.tar", "fonts.tar"]) {
    await unpackArchive(name, unfinished);
  }
  try {
    await rename(unfinished, folder);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) {
      throw error;
    }
  }
  return folder;
}

async function unpackProgram(folder: string): Promise<void> {
  const path = join(folder, "chromium");
  await writeFile(path, await decompress(await readFile(join(packageFolder, "bin", "chromium.br"))));
  await chmod(path, 0o755);
}

async function unpackArchive(name: string, folder: string): Promise<void> {
  const input = await decompress(await readFile(join(packageFolder, "bin", `${name}.br`)));
  execFileSync("tar", ["-x", "-C", folder], { input });
}
