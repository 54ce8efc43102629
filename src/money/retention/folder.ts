import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Random } from "#lib/ids/random.ts";
import { ArchiveFile } from "./archive-file.ts";
import type { ArchivePlace } from "./place.ts";

/** A folder of the disk, which several cores may reach. */
export function archiveFolder(directory: string, random: Pick<Random, "uuid">): ArchivePlace {
  return {
    create: (name) => ArchiveFile.create(directory, name, random),
    async identify(name) {
      try {
        const { ino, size, mtimeMs } = await stat(join(directory, name));
        return `${ino} ${size} ${mtimeMs}`;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") {
          return undefined;
        }
        throw error;
      }
    },
    stream: (name) => createReadStream(join(directory, name)) as AsyncIterable<Buffer>,
    async open(name) {
      const handle = await open(join(directory, name), "r");
      return {
        async read(position, length) {
          const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
          if (bytesRead < length) {
            throw new Error("an archive ended too soon");
          }
          return buffer;
        },
        close: () => handle.close(),
      };
    },
  };
}
