import { join } from "node:path";
import { withDiskAdvice } from "#lib/errors/disk-faults.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Clock } from "#lib/time/clock.ts";
import { readCoreId } from "./core-id.ts";
import { type Disk, systemDisk } from "./disk.ts";
import { type CoreJournal, FileJournal } from "./file-journal.ts";
import { DiskFile } from "./journal-file.ts";
import { decode } from "./journal-record.ts";

/** The most cores that may run on one data directory at once. */
const mostCores = 1000;

export interface Dependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Absent: the machine's own. */
  readonly disk?: Disk;
}

/**
 * Opens the first journal in the directory that no running process has. So a core that starts after another one died
 * takes over its directory, id and unfinished requests.
 */
export function openJournal(directory: string, parts: Dependencies): CoreJournal {
  const { disk = systemDisk } = parts;
  for (let place = 1; place <= mostCores; place++) {
    const own = join(directory, String(place));
    const path = join(own, "journal");
    const unlock = withDiskAdvice(path, () => {
      disk.mkdirSync(own, { recursive: true, mode: 0o700 });
      return disk.lockFile(path);
    });
    if (unlock === undefined) {
      continue;
    }
    let file: DiskFile | undefined;
    try {
      const opened = withDiskAdvice(path, () => new DiskFile(path, disk));
      file = opened;
      const content = decode(withDiskAdvice(path, () => opened.read()));
      if (content.newer) {
        throw new Error(
          `the journal ${path} was written by a newer tollgate: start that version, whose unfinished requests it has, and end it with SIGTERM before going back`,
        );
      }
      const coreId = readCoreId(join(own, "core-id"), content, { ...parts, disk });
      return new FileJournal(opened, { ...parts, coreId, content, unlock, instance: disk.lockInstance(path) });
    } catch (error) {
      file?.close();
      unlock();
      throw error;
    }
  }
  throw new Error(`${directory} is in use by ${mostCores} cores`);
}
