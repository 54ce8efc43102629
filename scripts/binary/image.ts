// Builds the image of deploy/Containerfile.binary with podman, from the one binary: `npm run build:image`. With `--try` it also runs
// it as a stranger does, as a user without rights on a read-only root file system: `npm run test:image`.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { homeName, tryInstalled } from "../package/try-installed.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const binary = join(root, "build", "tollgate");
const context = join(root, "build", "image");
const image = "localhost/tollgate:built";
/** The user of the image, to whom its data belongs. */
const user = 1000;

for (const script of ["binary/build.ts", "docs/site/build.ts"]) {
  execFileSync(process.execPath, [join(root, "scripts", script)], { stdio: "inherit" });
}
assemble(join(context, "rootfs"));
// The distribution's policy may be missing; nothing is pulled here that it could judge.
const policy = join(context, "policy.json");
writeFileSync(policy, '{"default":[{"type":"insecureAcceptAnything"}]}');
const file = join(root, "deploy", "Containerfile.binary");
// Docker's format has a health check, the other one has not.
const build = [
  "build",
  "--format",
  "docker",
  "--signature-policy",
  policy,
  "--isolation",
  "chroot",
  "--file",
  file,
  "--tag",
  image,
  context,
];
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
  chmodSync(join(folder, "tmp"), 0o1777);
  cpSync(binary, join(folder, "usr", "bin", "tollgate"));
  cpSync(join(root, "deploy", "container.yaml"), join(folder, "etc", "tollgate", "tollgate.yaml"));
  cpSync(join(root, "dist", "docs"), join(folder, "usr", "share", "tollgate", "dist", "docs"), { recursive: true });
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
  const guards = [
    "--read-only",
    "--read-only-tmpfs=false",
    "--cap-drop=all",
    "--security-opt=no-new-privileges",
    "--cgroups=disabled",
  ];
  // podman has systemd ask for an image's health, and complains where there is none.
  const checks = existsSync("/run/systemd/system") ? [] : ["--no-healthcheck"];
  const limits = ["--ulimit=nofile=1024:1024", "--ulimit=nproc=1000:1000"];
  const run = ["run", "--rm", "--signature-policy", policy, "--network=host", ...guards, ...limits, ...checks];
  try {
    const { readyMs } = await tryInstalled(podman(...run, `--volume=${data}:/data`, image), folder);
    await tryDocumentation(podman(...run, image));
    console.log(`served, billed, kept its data, proved its books; ready after ${readyMs.join(" and ")} ms`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Has the image serve its documentation, and reads a page of it. */
async function tryDocumentation([program = "", ...before]: string[]): Promise<void> {
  const child = spawn(program, [...before, "docs", "--listen", "127.0.0.1:0", "--log", "json"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  for await (const line of createInterface(child.stdout)) {
    if (line.includes("tollgate ready")) {
      const { docs } = JSON.parse(line) as { docs: string };
      const page = await (await fetch(`${docs}/docs/money`)).text();
      if (!page.includes("<h1")) {
        throw new Error(`${docs}/docs/money: ${page.slice(0, 200)}`);
      }
      child.kill("SIGTERM");
    }
  }
  const [status] = await exited;
  if (status !== 0) {
    throw new Error(`docs ended with ${status}`);
  }
}

/** podman's command line. crun refuses to run where both versions of cgroups are mixed, unless it does not see them. */
function podman(...args: string[]): string[] {
  const hide = 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec "$@"';
  const mixed = existsSync("/sys/fs/cgroup/unified");
  return [...(mixed ? ["unshare", "--mount", "sh", "-c", hide, "sh"] : []), "podman", ...args];
}
