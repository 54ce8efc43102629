import { readFile, stat } from "node:fs/promises";
import { ConfigError } from "./config-error.ts";

/** The process's environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings that come from the environment. Each can also be put into a file that NAME_FILE names. */
export const settingNames = [
  "TOLLGATE_DATA_DIR",
  "TOLLGATE_STORAGE_URL",
  "TOLLGATE_STORAGE_LISTEN_URL",
  "TOLLGATE_STORAGE_READ_URL",
  "TOLLGATE_RATE_LIMIT_URL",
  "TOLLGATE_OPERATOR_TOKEN",
  "TOLLGATE_KEY_PEPPER",
  "TOLLGATE_STRIPE_WEBHOOK_SECRET",
  "TOLLGATE_USAGE_EVENTS_TOKEN",
] as const;
export type SettingName = (typeof settingNames)[number];

/** Reads NAME, or the file that NAME_FILE names. Undefined: neither is set. Throws ConfigError. */
export async function readSetting(environment: Environment, name: SettingName): Promise<string | undefined> {
  const value = environment[name];
  const file = environment[`${name}_FILE`];
  if (value !== undefined && file !== undefined) {
    throw new ConfigError(`environment: ${name} and ${name}_FILE are both set: set one`);
  }
  const text = file === undefined ? value : await readSecretFile(file, `environment: ${name}_FILE`);
  if (text === "") {
    throw new ConfigError(`environment: ${name} is empty: give it a value or unset it`);
  }
  return text;
}

const writableByOthers = 0o022;
const readableByOthers = 0o004;

/**
 * The trimmed content of a file that holds one secret. `where` begins the message of the ConfigError, which is thrown,
 * too, where somebody else may write the file: whoever does so chooses the secret.
 */
export async function readSecretFile(file: string, where: string): Promise<string> {
  await refuseShared(file, where);
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    throw new ConfigError(`${where}: ${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? error}`);
  }
}

/** Throws ConfigError when others may write a file. */
export async function refuseShared(file: string, where: string): Promise<void> {
  if (((await readMode(file)) & writableByOthers) !== 0) {
    throw new ConfigError(`${where}: ${file} may be written by other users: chmod go-w ${file}`);
  }
}

/** Whether anybody on this machine may read a file. */
export async function isExposed(file: string): Promise<boolean> {
  return ((await readMode(file)) & readableByOthers) !== 0;
}

/** A file's permissions. 0: it is not there, or the system has none. */
async function readMode(file: string): Promise<number> {
  if (process.platform === "win32") {
    return 0;
  }
  const found = await stat(file).catch(() => undefined);
  return found?.isFile() ? found.mode : 0;
}
