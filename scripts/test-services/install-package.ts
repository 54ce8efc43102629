import { spawnSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";

/** The script that Debian's packages ask before they start a service: 101 forbids it. */
const policy = "/usr/sbin/policy-rc.d";

/**
 * Installs a package of the distribution where that needs no question: as root on Debian and its kin. Its service
 * does not come up, as the tests start servers of their own. Whoever calls looks whether it is there.
 */
export function installPackage(name: string): void {
  const hasApt = spawnSync("apt-get", ["--version"], { stdio: "ignore" }).status === 0;
  if (process.getuid?.() !== 0 || !hasApt) {
    return;
  }
  const hasPolicy = existsSync(policy);
  if (!hasPolicy) {
    writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  }
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const apt = (...args: string[]) => spawnSync("apt-get", args, { env, stdio: ["ignore", "ignore", "inherit"] });
  apt("update");
  apt("install", "-y", "--no-install-recommends", "-o", "Dpkg::Options::=--force-confold", name);
  if (!hasPolicy) {
    rmSync(policy);
  }
}

/** The first of some programs that runs with a flag; without any, after its package was installed. Undefined: there is none. */
export function findProgram(names: readonly string[], flag: string, packageName: string): string | undefined {
  const find = () => names.find((name) => spawnSync(name, [flag], { stdio: "ignore" }).status === 0);
  const found = find();
  if (found === undefined) {
    installPackage(packageName);
  }
  return found ?? find();
}
