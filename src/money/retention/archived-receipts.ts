import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { readRequestTime } from "#lib/ids/request-id.ts";
import { dayMs, dayName } from "#lib/time/days.ts";
import { ReceiptArchive } from "#src/storage/entities/metering/archive.ts";
import type { Storage } from "#src/storage/storage.ts";
import {
  type ArchivedQuestion,
  type ArchivedReceipts,
  type FaultyArchive,
  isAfter,
  placeOf,
} from "../books/receipts/archived-receipts.ts";
import { allAccounts } from "../store/rollups.ts";
import { type ArchiveReader, type OpenArchive, toReceipt } from "./read-archive.ts";

/** A request is usually settled on the day on which it began, or on one of the next two. */
const usualDays = 3;
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

  async find(requestId: string, accountId = ""): Promise<Receipt[]> {
    const found: Receipt[] = [];
    const whenever = { fromMs: 0, toMs: Number.POSITIVE_INFINITY, after: undefined };
    for await (const receipt of this.list({ ...whenever, accountId, keyId: "", model: "", requestId })) {
      found.push(receipt);
    }
    return found.toReversed();
  }

  async *list(question: ArchivedQuestion): AsyncGenerator<Receipt> {
    let isFound = false;
    let faulty: unknown;
    for (const [at, span] of spansOf(question).entries()) {
      for (const archive of isFound ? [] : await this.#archivesOf({ ...question, ...span })) {
        const open = await this.#reader.open(archive).catch((error: unknown) => {
          if (question.requestId === "" || !isFaulty(error)) {
            throw error;
          }
          faulty ??= at === 0 ? error : undefined; // another archive may have the request
        });
        for await (const receipt of open === undefined ? [] : listAndClose(open, question)) {
          isFound = true;
          yield receipt;
        }
      }
    }
    if (faulty !== undefined && !isFound && question.after === undefined) {
      throw faulty;
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
        faulty.push({ day: dayName(archive.day), found });
      }
    }
    return faulty;
  }

  /** The archives of days on which the sums of usage count such receipts, newest first. */
  async #archivesOf(question: ArchivedQuestion): Promise<ReceiptArchive[]> {
    const { fromMs, toMs, after } = question;
    const end = Math.min(toMs, (after?.settledMs ?? Number.POSITIVE_INFINITY) + 1);
    const day = { $in: await this.#findUsed(question, Math.floor(fromMs / dayMs), Math.ceil(end / dayMs)) };
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

/** Whether an archive is gone, or another than was written. */
function isFaulty(error: unknown): boolean {
  const reason = readDetail(error)?.reason;
  return reason === Reason.RECEIPT_ARCHIVED || reason === Reason.ARCHIVE_CHANGED;
}

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

/**
 * Where receipts are searched, one span after the other until there are any. Those of an id that the service made are on its
 * day or soon after, unless a core came back late, an operator settled it, or the clock that made the id was wrong.
 */
function spansOf({ requestId, fromMs, toMs }: ArchivedQuestion): readonly Pick<ArchivedQuestion, "fromMs" | "toMs">[] {
  const madeAt = readRequestTime(requestId);
  const anywhere = { fromMs, toMs };
  if (madeAt === undefined) {
    return [anywhere];
  }
  const first = Math.floor(madeAt / dayMs) * dayMs;
  return [{ fromMs: Math.max(fromMs, first), toMs: Math.min(toMs, first + usualDays * dayMs) }, anywhere];
}

async function* listAndClose(open: OpenArchive, question: ArchivedQuestion): AsyncGenerator<Receipt> {
  try {
    yield* listIn(open, question);
  } finally {
    await open.close();
  }
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
