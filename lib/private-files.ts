import { accessSync, chmodSync, closeSync, constants, mkdirSync, openSync, statSync } from "node:fs";

// Only the service's own user reads files with money, digests or secrets: files 0600, directories 0700.

const others = 0o077;

/**
 * Makes a file unless there is one, and takes it from other users. Throws when it cannot be opened for writing. One that is there
 * is not opened: a process that closes any descriptor of a file loses all its locks on it, those of SQLite as well.
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
 * Makes a directory and those above it unless there are, and takes it from other users. Returns false when it belongs to
 * another user, who alone may do so.
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
