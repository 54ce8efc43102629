import { createHash } from "node:crypto";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { dayName } from "#lib/time/days.ts";
import { Turns } from "#lib/time/turns.ts";
import type { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import { unavailable } from "../model/unavailable.ts";
import type { ArchivePlace } from "./place.ts";

/**
 * Compares archives with their digests in the books. One is read at a time, in pieces, so that neither a large day nor many
 * questions take much memory; who asks for the same archive meanwhile waits for the same reading.
 */
export class ArchiveDigests {
  readonly #place: Pick<ArchivePlace, "identify" | "stream">;
  /** The marks of the files that were compared, by name. */
  readonly #compared = new Map<string, string>();
  /** What is being read, or waits for its turn, by name and mark. */
  readonly #readings = new Map<string, Promise<void>>();
  readonly #turns = new Turns();

  constructor(place: Pick<ArchivePlace, "identify" | "stream">) {
    this.#place = place;
  }

  /**
   * Compares an archive, unless it is the very file that was compared last, or when its receipts left. The digest is of the
   * whole file, so no part of it tells whether the part is right. Throws RECEIPT_ARCHIVED, ARCHIVE_CHANGED, and
   * LEDGER_UNAVAILABLE where the place cannot be read.
   */
  async demand(archive: ReceiptArchive): Promise<void> {
    await this.#compare(archive, this.#compared.get(archive.file) ?? archive.mark);
  }

  /** Compares an archive, and returns its mark. Throws as `demand` does. */
  compare(archive: ReceiptArchive): Promise<string> {
    return this.#compare(archive, undefined);
  }

  async #compare(archive: ReceiptArchive, known: string | null | undefined): Promise<string> {
    const found = await this.#place.identify(archive.file).catch((error: unknown) => unreadable(archive, error));
    if (found === undefined) {
      throw gone(archive);
    }
    if (found === known) {
      return found;
    }
    const key = JSON.stringify([archive.file, found]);
    const reading = this.#readings.get(key) ?? this.#turns.take(() => this.#read(archive, found));
    this.#readings.set(key, reading);
    await reading.finally(() => this.#readings.delete(key));
    return found;
  }

  async #read(archive: ReceiptArchive, found: string): Promise<void> {
    const digest = await this.#digest(archive.file).catch((error: unknown) => unreadable(archive, error));
    if (digest !== archive.sha256) {
      throw changed(archive);
    }
    this.#compared.set(archive.file, found);
  }

  async #digest(file: string): Promise<string> {
    const hash = createHash("sha256");
    for await (const piece of this.#place.stream(file)) {
      hash.update(piece);
    }
    return hash.digest("hex");
  }
}

export function changed(archive: ReceiptArchive): Error {
  return failure(
    Reason.ARCHIVE_CHANGED,
    `The archive of ${dayName(archive.day)} is not the one that was written: restore ${archive.file} from a copy.`,
    { parameter: "request_id" },
  );
}

export function unreadable(archive: ReceiptArchive, error: unknown): never {
  throw unavailable(`The archive of ${dayName(archive.day)} cannot be read at the moment.`, error);
}

function gone(archive: ReceiptArchive): Error {
  const at = archive.at.toISOString().slice(0, 10);
  return failure(
    Reason.RECEIPT_ARCHIVED,
    `The receipts of ${dayName(archive.day)} left the books on ${at}, and their archive is not in its place.`,
    { parameter: "request_id" },
  );
}
