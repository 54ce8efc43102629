import { chmodSync, closeSync, mkdirSync, openSync, statSync } from "node:fs";

// Only the service's own user reads files with money, digests or secrets: files 0600, directories 0700.

const others = 0o077;

/** Makes a file unless there is one, and takes it from other users. Throws when it cannot be opened for writing. */
export function keepFilePrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
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
