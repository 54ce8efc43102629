import { chmod, mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where Linux has a file system in memory. */
const inMemory = "/dev/shm";
/** What the largest tests need at once, with room to spare. */
const neededBytes = 2 ** 31;

/** A folder for all temporary files of a run. */
export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/**
 * Makes it in memory where there is room, unless TMPDIR names another place: databases and journals wait for the disk at every
 * commit, which is most of what their tests would do.
 */
export async function makeTemporaryFolder(): Promise<TemporaryFolder> {
  const hasRoom = process.env.TMPDIR === undefined && (await freeBytes(inMemory)) >= neededBytes;
  const path = await mkdtemp(join(hasRoom ? inMemory : tmpdir(), "tollgate-test-"));
  await chmod(path, 0o1777); // servers that refuse to run as root have folders in it, too
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

async function freeBytes(path: string): Promise<number> {
  return statfs(path).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
}
