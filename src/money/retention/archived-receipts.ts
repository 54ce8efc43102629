import type { FilterQuery } from "@mikro-orm/core";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { readRequestTime } from "#lib/ids/request-id.ts";
import { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import type { Storage } from "#src/storage/storage.ts";
import {
  type ArchivedQuestion,
  type ArchivedReceipts,
  type FaultyArchive,
  isAfter,
  placeOf,
} from "../books/receipts/archived-receipts.ts";
import { dayMs } from "../store/kept-from.ts";
import { allAccounts } from "../store/rollups.ts";
import { type ArchiveReader, type OpenArchive, toReceipt } from "./read-archive.ts";

/** Days after its beginning on which a request is settled: the next one, or when its core comes back. */
const laterDays = 2;
/** Archives that one answer opens, so that a search for nothing ends. */
const mostArchives = 400;
/** A day after all others, as the tables have days. */
const never = 2 ** 31 - 1;

/** Receipts from archives. */
export class ReadReceipts implements ArchivedReceipts {
  readonly #storage: Storage;
  readonly #reader: ArchiveReader;

  constructor(storage: Storage, reader: ArchiveReader) {
    this.#storage = storage;
    this.#reader = reader;
  }

  /**
   * An id that the service made is searched for on its day and the next ones; any other on all days, newest first, and with
   * an account on those alone on which it has usage. An archive that is gone may have had only the former.
   */
  async find(requestId: string, accountId: string | undefined): Promise<Receipt[]> {
    const madeAt = readRequestTime(requestId);
    const archives = await this.#storage.orm.em.fork().find(ReceiptArchive, await this.#daysOf(madeAt, accountId), {
      orderBy: { day: madeAt === undefined ? "desc" : "asc" },
      limit: mostArchives,
    });
    let gone: unknown;
    for (const archive of archives) {
      const found = await this.#read(archive, (open) => findIn(open, requestId)).catch((error: unknown) => {
        if (readDetail(error)?.reason !== Reason.RECEIPT_ARCHIVED) {
          throw error;
        }
        gone ??= error;
        return [];
      });
      if (found.length > 0) {
        return found;
      }
    }
    if (gone !== undefined && madeAt !== undefined) {
      throw gone;
    }
    return [];
  }

  /** The days on which a request may be that was made at a time, or by somebody who chose its id. */
  async #daysOf(madeAt: number | undefined, accountId: string | undefined): Promise<FilterQuery<ReceiptArchive>> {
    if (madeAt !== undefined) {
      const first = Math.floor(madeAt / dayMs);
      return { day: { $gte: first, $lte: first + laterDays } };
    }
    const used = accountId && (await this.#findUsed({ accountId, keyId: "", model: "" }, 0, never));
    return used ? { day: { $in: used } } : {};
  }

  async *list(question: ArchivedQuestion): AsyncGenerator<Receipt> {
    for (const archive of await this.#archivesOf(question)) {
      const open = await this.#reader.open(archive);
      try {
        yield* listIn(open, question);
      } finally {
        await open.close();
      }
    }
  }

  async *listOldestFirst(span: Pick<ArchivedQuestion, "accountId" | "fromMs" | "toMs">): AsyncGenerator<Receipt> {
    const question: ArchivedQuestion = { ...span, keyId: "", model: "", requestId: "", after: undefined };
    for (const archive of (await this.#archivesOf(question)).toReversed()) {
      const open = await this.#reader.open(archive);
      try {
        for (let at = open.blocks - 1; at >= 0; at--) {
          const lines = (await open.lines(at)).filter((line) => mayMatch(line, question));
          yield* lines
            .toReversed()
            .map(toReceipt)
            .filter((receipt) => isWithin(receipt, question));
        }
      } finally {
        await open.close();
      }
    }
  }

  async findFaulty(): Promise<FaultyArchive[]> {
    const faulty: FaultyArchive[] = [];
    for (const archive of await this.#storage.orm.em.fork().findAll(ReceiptArchive, { orderBy: { day: "asc" } })) {
      const found = await this.#reader.compare(archive).then(() => undefined, describe);
      if (found !== undefined) {
        faulty.push({ day: new Date(archive.day * dayMs).toISOString().slice(0, 10), found });
      }
    }
    return faulty;
  }

  async #read<T>(archive: ReceiptArchive, read: (open: OpenArchive) => Promise<T>): Promise<T> {
    const open = await this.#reader.open(archive);
    try {
      return await read(open);
    } finally {
      await open.close();
    }
  }

  /** The archives of days on which the sums of usage count such receipts, newest first. */
  async #archivesOf(question: ArchivedQuestion): Promise<ReceiptArchive[]> {
    const { requestId, fromMs, toMs, after } = question;
    const madeAt = readRequestTime(requestId);
    const since = Math.max(fromMs, madeAt ?? 0);
    const until = madeAt === undefined ? Number.POSITIVE_INFINITY : madeAt + (laterDays + 1) * dayMs;
    const end = Math.min(toMs, until, (after?.settledMs ?? Number.POSITIVE_INFINITY) + 1);
    const day = { $in: await this.#findUsed(question, Math.floor(since / dayMs), Math.ceil(end / dayMs)) };
    return this.#storage.orm.em.fork().find(ReceiptArchive, { day }, { orderBy: { day: "desc" } });
  }

  /** The days, from one on and before another, on which the sums of usage count such receipts. */
  async #findUsed(
    { accountId, keyId, model }: Pick<ArchivedQuestion, "accountId" | "keyId" | "model">,
    first: number,
    end: number,
  ): Promise<number[]> {
    const isOfKeys = accountId !== "" || keyId !== "";
    const conditions = [
      isOfKeys && accountId === "" ? `account_id <> '${allAccounts}'` : "account_id = ?",
      "span = 'day' and slot >= ? and slot < ?",
      ...(keyId === "" ? [] : ["key_id = ?"]),
      ...(model === "" ? [] : ["model = ?"]),
    ];
    const account = isOfKeys ? accountId : allAccounts;
    const slots = await this.#storage.orm.em.fork().execute<{ slot: number }[]>(
      `select distinct slot from usage_rollup where ${conditions.join(" and ")}`,
      [account, first, Math.min(end, never), keyId, model].filter((value) => value !== ""),
    );
    return slots.map(({ slot }) => Number(slot));
  }
}

const isWithin = (receipt: Receipt, question: ArchivedQuestion): boolean => {
  const { settledMs } = placeOf(receipt);
  return settledMs >= question.fromMs && settledMs < question.toMs && matches(receipt, question);
};

/** What was found in the place of an archive. */
function describe(error: unknown): string {
  switch (readDetail(error)?.reason) {
    case Reason.ARCHIVE_CHANGED:
      return "another";
    case Reason.RECEIPT_ARCHIVED:
      return "none";
    default:
      return `one that cannot be read: ${(error as Error).message}`;
  }
}

async function findIn(open: OpenArchive, requestId: string): Promise<Receipt[]> {
  const found: Receipt[] = [];
  for (const number of await open.find(requestId)) {
    const lines = await open.lines(number);
    // The text of an id may be in other lines, too; parsing each line would take longer.
    found.push(...lines.filter((line) => line.includes(JSON.stringify(requestId))).map(toReceipt));
  }
  return found.filter((receipt) => receipt.requestId === requestId).toReversed();
}

/** Begins with the block in which the list goes on, and ends with the first receipt that is too old. */
async function* listIn(open: OpenArchive, question: ArchivedQuestion): AsyncGenerator<Receipt> {
  const { fromMs, toMs, after } = question;
  for await (const receipt of mayMatching(open, question)) {
    const place = placeOf(receipt);
    if (place.settledMs < fromMs) {
      return;
    }
    if (place.settledMs < toMs && matches(receipt, question) && (after === undefined || isAfter(place, after))) {
      yield receipt;
    }
  }
}

/** Receipts that have the texts that are asked for, somewhere: to parse the others would take longer. */
async function* mayMatching(open: OpenArchive, question: ArchivedQuestion): AsyncGenerator<Receipt> {
  const { requestId, toMs, after } = question;
  const named = requestId === "" ? undefined : new Set(await open.find(requestId));
  const begin = Math.min(toMs, (after?.settledMs ?? Number.POSITIVE_INFINITY) + 1);
  for (let at = await findBlock(open, begin); at < open.blocks; at++) {
    if (named === undefined || named.has(at)) {
      yield* (await open.lines(at)).filter((line) => mayMatch(line, question)).map(toReceipt);
    }
  }
}

/** The last block that begins at or after a time, or the first one: blocks before it have only newer receipts. */
async function findBlock(open: OpenArchive, ms: number): Promise<number> {
  let [low, high] = [0, open.blocks];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    [low, high] = (await open.block(middle)).newestMs >= ms ? [middle + 1, high] : [low, middle];
  }
  return Math.max(0, low - 1);
}

const texts = ["accountId", "keyId", "model", "requestId"] as const;

/** Whether the line has the texts that are asked for, somewhere. */
const mayMatch = (line: string, question: ArchivedQuestion): boolean =>
  texts.every((name) => question[name] === "" || line.includes(JSON.stringify(question[name]))) &&
  (!question.label?.value || line.includes(JSON.stringify(question.label.value)));

const matches = (receipt: Receipt, question: ArchivedQuestion): boolean =>
  texts.every((name) => question[name] === "" || question[name] === receipt[name]) && hasLabel(receipt, question);

function hasLabel({ labels }: Receipt, { label }: ArchivedQuestion): boolean {
  return label?.value === undefined || (labels[label.name] ?? "") === label.value;
}
