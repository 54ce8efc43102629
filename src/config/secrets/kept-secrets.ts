import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { explainDiskFault } from "#lib/errors/disk-faults.ts";
import { newCheckedSecret } from "#lib/ids/checked-secret.ts";
import type { Random } from "#lib/ids/random.ts";
import { ConfigError } from "../config-error.ts";
import { refuseShared } from "../environment.ts";

/**
 * Reads a secret that this service keeps for itself. Makes it first if there is none, with a checksum: wrong credentials of an
 * address do not lock out what nobody can guess.
 */
export async function keepSecret(dataDir: string, name: string, prefix: string, random: Random): Promise<string> {
  const file = join(dataDir, name);
  const kept = await readIfThere(file);
  if (kept) {
    return kept;
  }
  const draft = `${file}.${random.uuid()}`;
  const secret = newCheckedSecret(prefix, random);
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await writeFile(draft, `${secret}\n`, { mode: 0o600 });
  } catch (error) {
    throw explainDiskFault(resolve(dataDir), error);
  }
  try {
    // A link appears completely or not at all, so that two services that start together agree on one secret.
    await link(draft, file);
    return secret;
  } catch (error) {
    const other = await readIfThere(file);
    if (other) {
      return other;
    }
    throw new ConfigError(`${file}: cannot be made: ${(error as NodeJS.ErrnoException).code ?? error}`);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Throws ConfigError. Undefined: there is no such file. */
export async function readIfThere(file: string): Promise<string | undefined> {
  await refuseShared(file, "secrets");
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    const explained = explainDiskFault(resolve(file), error);
    if (explained !== error) {
      throw explained;
    }
    throw new ConfigError(`${file}: cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}
