import { isNativeError } from "node:util/types";

/** Advice to the operator for a disk error, by its code. https://www.sqlite.org/rescode.html has the numbers. */
const advice: Readonly<Record<string, string>> = {
  EACCES: "this user may not use it: give it to the user that tollgate runs as (chown -R, chmod -R u+rwX)",
  EPERM: "this user may not use it: give it to the user that tollgate runs as (chown -R, chmod -R u+rwX)",
  EISDIR: "a directory is in its place: move that away",
  ENOTDIR: "a file is where a directory has to be: move that away, or set TOLLGATE_DATA_DIR",
  EEXIST: "a file is where a directory has to be: move that away, or set TOLLGATE_DATA_DIR",
  ENOSPC: "the disk is full: free some space on it",
  EDQUOT: "this user's share of the disk is full: free some space on it",
  EROFS: "the disk is read-only: mount it for writing, or set TOLLGATE_DATA_DIR",
  SQLITE_8: "it is write-protected: let the user that tollgate runs as write it",
  SQLITE_10:
    "the disk fails, or SQLite finds no folder for temporary files: see the system's log, or set SQLITE_TMPDIR",
  SQLITE_13: "the disk is full: free some space on it",
  SQLITE_14: "this user may not use it: give it to the user that tollgate runs as (chown -R, chmod -R u+rwX)",
};

/** The most causes that are examined in an error's chain, which may be circular. */
const longestChain = 8;

/** Runs an operation on a file of the data directory. An error then names the file and what to do about it. */
export function withDiskAdvice<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw explainDiskFault(path, error);
  }
}

/** Adds advice to an error of the disk, or to an error that one caused. Any other error stays as it is. */
export function explainDiskFault(path: string, error: unknown): unknown {
  for (let fault = error, depth = 0; isNativeError(fault) && depth < longestChain; fault = fault.cause, depth++) {
    const { code, errcode } = fault as NodeJS.ErrnoException & { errcode?: number };
    const known = advice[errcode === undefined ? String(code) : `SQLITE_${errcode & 0xff}`]; // the primary code, without the extended part
    if (known !== undefined) {
      return new Error(`${path}: ${known}`, { cause: error });
    }
  }
  return error;
}
