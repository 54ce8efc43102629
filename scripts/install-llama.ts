// Installs llama.cpp for `serve --gguf`: `npm run install:llama`. It stays out of the main dependencies
// because its optional packages, one for each platform and kind of GPU, weigh 700 MB; of them only the
// one for this machine's processor is taken (85 MB in all).
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../native/llama-cpp/", import.meta.url));
const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, "utf8"));
const version: string = dependencies["node-llama-cpp"];
const platforms: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-arm64",
  "linux-arm": "linux-armv7l",
  "darwin-arm64": "mac-arm64-metal",
  "darwin-x64": "mac-x64",
  "win32-x64": "win-x64",
  "win32-arm64": "win-arm64",
};

function installed(name: string): boolean {
  try {
    return createRequire(folder)(`${folder}node_modules/${name}/package.json`).version === version;
  } catch {
    return false;
  }
}

const platform = platforms[`${process.platform}-${process.arch}`];
if (platform === undefined) {
  console.error(`llama.cpp is not available for ${process.platform} on ${process.arch}.`);
  process.exit(1);
}
const binaries = `@node-llama-cpp/${platform}`;
if (!installed("node-llama-cpp") || !installed(binaries)) {
  // Without optional dependencies, but the one that is named counts as asked for.
  const options = ["--no-save", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund"];
  const { status } = spawnSync("npm", ["install", ...options, `${binaries}@${version}`], {
    cwd: folder,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  process.exit(status ?? 1);
}
