import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { isClone } from "#lib/files/assets.ts";
import { type Environment, readSetting } from "../environment.ts";

/** The environment that decides where data is kept when no setting does. */
export interface Place {
  readonly isClone: boolean;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly environment: Environment;
  /** Whether the working directory has a file or folder of this name that belongs to this user. */
  has(name: string): boolean;
}

/** The directory in which a process keeps its state. TOLLGATE_DATA_DIR overrides it. Throws ConfigError. */
export async function readDataDir(environment: Environment): Promise<string> {
  return (
    (await readSetting(environment, "TOLLGATE_DATA_DIR")) ??
    usualDataDir({ isClone, platform: process.platform, home: homedir(), environment, has: hasOwn })
  );
}

/** What another user has put into the working directory, such as /tmp, is not taken for ours: its secrets are known. */
export function hasOwn(name: string): boolean {
  const found = statSync(name, { throwIfNoEntry: false });
  return found !== undefined && (process.getuid === undefined || found.uid === process.getuid());
}

/**
 * `data` in the working directory, for a clone and where a `tollgate.yaml` or `data` exists. Otherwise the platform's
 * directory for a user's data, so that a program started from anywhere finds its money again.
 */
export function usualDataDir({ isClone, platform, home, environment, has }: Place): string {
  if (isClone || has("tollgate.yaml") || has("data")) {
    return "data";
  }
  if (platform === "darwin") {
    return join(home, "Library", "Application Support", "tollgate");
  }
  const chosen = platform === "win32" ? environment.LOCALAPPDATA : environment.XDG_DATA_HOME;
  const usual = platform === "win32" ? join(home, "AppData", "Local") : join(home, ".local", "share");
  return join(chosen !== undefined && isAbsolute(chosen) ? chosen : usual, "tollgate");
}
