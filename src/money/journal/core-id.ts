import { validate as isUuid } from "uuid";
import { withDiskAdvice } from "#lib/errors/disk-faults.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import { type Disk, writeDurably } from "./disk.ts";
import type { JournalContent } from "./journal-record.ts";

/**
 * The id of the core that owns this directory. When the file is missing or damaged, the journal beside it names the
 * core. A journal that names none must have nothing unfinished: nobody could tell whether its core still runs.
 */
export function readCoreId(
  path: string,
  { owner, records, unusable }: JournalContent,
  { random, logger, disk }: { readonly random: Random; readonly logger: Logger; readonly disk: Disk },
): string {
  return withDiskAdvice(path, () => {
    const found = read(disk, path);
    if (found !== undefined && isUuid(found)) {
      return found;
    }
    const damaged = found !== undefined;
    if (owner === undefined && records.length + unusable.length > 0) {
      throw new Error(
        `${path} ${damaged ? "holds no id" : "is missing"}, and the journal beside it has unfinished requests: put the core's id back (the table core of the database has it), or move the journal away to never charge them`,
      );
    }
    const coreId = owner?.coreId ?? random.uuid();
    if (damaged || owner !== undefined) {
      logger.warn({ path, coreId }, "the file with the core's id was damaged and is made anew");
    }
    writeDurably(disk, path, `${coreId}\n`);
    return coreId;
  });
}

function read(disk: Disk, path: string): string | undefined {
  try {
    return disk.readFileSync(path).toString("utf8").trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}
