// Builds the image of deploy/Containerfile.binary with podman, from the one binary: `npm run build:image`. With `--try` it also runs
// it as a stranger does, as a user without rights on a read-only root file system: `npm run test:image`.

import { execFileSync } from "node:child_process";
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
    console.log(`served, billed, kept its data, proved its books; ready after ${readyMs.join(" and ")} ms`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** podman's command line. crun refuses to run where both versions of cgroups are mixed, unless it does not see them. */
function podman(...args: string[]): string[] {
  const hide = 'mount -t tmpfs tmpfs /sys/fs/cgroup && exec "$@"';
  const mixed = existsSync("/sys/fs/cgroup/unified");
  return [...(mixed ? ["unshare", "--mount", "sh", "-c", hide, "sh"] : []), "podman", ...args];
}
