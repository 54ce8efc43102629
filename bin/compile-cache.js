// Where compiled code is kept between starts. Whoever can write there runs code as whoever starts the program, so it is a folder of
// this user's own, never the one below the system's temporary folder that Node.js takes by itself and that the first user makes.
import { lstatSync, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** The folder, made if it is not there. Undefined: there is none that is this user's alone. */
export function compileCacheFolder(environment) {
  try {
    const given = environment.XDG_CACHE_HOME ?? "";
    const above = isAbsolute(given) ? given : join(environment.HOME || homedir(), ".cache");
    const folder = join(above, "tollgate");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const isOurs = process.getuid === undefined || uid === process.getuid();
    return isOurs && (process.platform === "win32" || (mode & 0o077) === 0) ? folder : undefined;
  } catch {
    return undefined;
  }
}
