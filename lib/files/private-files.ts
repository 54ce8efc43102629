import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, statSync } from "node:fs";

// Only the service's own user may read files with money, digests or secrets: files 0600, directories 0700.

const others = 0o077;

/**
 * Makes a file unless it exists, and makes it private to this user. Throws when it cannot be opened for writing. An
 * existing file is not opened: a process that closes any descriptor of a file loses all its locks on it, including
 * SQLite's.
 */
export function keepFilePrivate(path: string): void {
  try {
    closeSync(openSync(path, "ax", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") {
      throw error;
    }
    accessSync(path, constants.W_OK);
    if (statSync(path).isDirectory()) {
      throw Object.assign(new Error(`${path} is a directory`), { code: "EISDIR" });
    }
  }
  restrict(path, 0o600);
}

/**
 * Makes a directory and its parents unless they exist, and makes it private to this user. Returns false when it belongs
 * to another user, who alone may change it.
 */
export function keepDirectoryPrivate(path: string): boolean {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return restrict(path, 0o700);
}

function restrict(path: string, mode: number): boolean {
  if ((statSync(path).mode & others) === 0) {
    return true;
  }
  try {
    chmodSync(path, mode);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") {
      throw error;
    }
    return false;
  }
}
