// Builds the image of deploy/Containerfile.binary with podman, from the one binary: `npm run build:image`. With `--try` it also runs
// it as a stranger does, as a user without rights on a read-only root file system: `npm run test:image`.

import { execFileSync } from "node:child_process";
import { chownSync, cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { homeName, tryInstalled } from "../package/try-installed.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const binary = join(root, "build", "tollgate");
const context = join(root, "build", "image");
const image = "localhost/tollgate:built";
/** The user of the image, to whom its data belongs. */
const user = 1000;

execFileSync(process.execPath, [join(root, "scripts", "binary", "build.ts")], { stdio: "inherit" });
assemble(join(context, "rootfs"));
// The distribution's policy may be missing; nothing is pulled here that it could judge.
const policy = join(context, "policy.json");
writeFileSync(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
const file = join(root, "deploy", "Containerfile.binary");
const build = ["build", "--signature-policy", policy, "--isolation", "chroot", "--file", file, "--tag", image, context];
execFileSync("podman", build, { stdio: "inherit" });
if (process.argv.includes("--try")) {
  await tryImage();
}

/** Puts the root file system together. */
function assemble(folder: string): void {
  rmSync(context, { recursive: true, force: true });
  for (const path of ["data", "tmp", "etc/tollgate", "usr/bin"]) {
    mkdirSync(join(folder, path), { recursive: true });
  }
  cpSync(binary, join(folder, "usr", "bin", "tollgate"));
  cpSync(join(root, "deploy", "container.yaml"), join(folder, "etc", "tollgate", "tollgate.yaml"));
  writeFileSync(join(folder, "etc", "passwd"), `tollgate:x:${user}:${user}::/data:/\n`);
  chownSync(join(folder, "data"), user, user);
  for (const [library] of execFileSync("ldd", [binary], { encoding: "utf8" }).matchAll(/\/\S+/g)) {
    mkdirSync(join(folder, dirname(library)), { recursive: true });
    cpSync(realpathSync(library), join(folder, library));
  }
}

async function tryImage(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "tollgate-image-"));
  const data = join(folder, homeName, ".local", "share", "tollgate");
  mkdirSync(data, { recursive: true });
  chownSync(data, user, user);
  const guards = ["--read-only", "--cap-drop=all", "--security-opt=no-new-privileges", "--cgroups=disabled"];
  const limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000"];
  const run = ["run", "--rm", "--signature-policy", policy, "--network=host", ...guards, ...limits];
  try {
    const { readyMs } = await tryInstalled(["podman", ...run, `--volume=${data}:/data`, image], folder);
    console.log(`served, billed, kept its data, proved its books; ready after ${readyMs.join(" and ")} ms`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
