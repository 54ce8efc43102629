import { crc32 } from "node:zlib";
import type { Charge } from "../model/charges/charge.ts";
import { readLabels } from "../model/charges/labels.ts";
import { readFacts } from "../model/charges/run-facts.ts";
import type { JournalEntry, JournalOwner } from "./journal.ts";

/** The newest format of a journal that this version reads and writes. Journals without a header count as 0. */
const newestFormat = 1;

/** A record of the journal. */
export type JournalRecord =
  | { readonly note: JournalEntry }
  /** The run's id. */
  | { readonly forget: string }
  | { readonly promise: Charge };

/** The first record: the journal's owner. A later header in the same file replaces it. */
interface JournalHeader {
  readonly header: { readonly format: number } & JournalOwner;
}

/** The content of a journal's file. */
export interface JournalContent {
  /** Undefined: the file is empty or older than headers. */
  readonly owner: JournalOwner | undefined;
  readonly records: readonly JournalRecord[];
  /** Whole lines that hold no known record, as they are in the file, without their ends. */
  readonly unusable: readonly Uint8Array[];
  /** True when the first line is damaged: it names the owner, unless a later header does. */
  readonly headDamaged: boolean;
  /** True when the last line has no end, so that the next record must begin a new line. */
  readonly torn: boolean;
  /** True when a later version of the program has written the file: its records must not be lost. */
  readonly newer: boolean;
}

/**
 * Encodes records as one line: a checksum, which tells a torn or damaged line from a whole one, and JSON. Many records
 * in one line cost a quarter of what they cost in a line each, but are lost together.
 */
export function encode(records: readonly (JournalRecord | JournalHeader)[]): string {
  return records.length === 0 ? "" : encodeJson(JSON.stringify(records));
}

/** The line that names a journal's owner. */
export function encodeHeader(owner: JournalOwner): string {
  return encode([{ header: { format: newestFormat, ...owner } }]);
}

function encodeJson(json: string): string {
  return `${checksum(json)} ${json}\n`;
}

/**
 * Reads a file. An unfinished last line is left out: nothing relied on it yet. Any other line that is not whole was
 * damaged later and is reported, and so is a whole line that is no record.
 */
export function decode(bytes: Uint8Array): JournalContent {
  const read: { owner: JournalOwner | undefined; records: JournalRecord[]; unusable: Uint8Array[]; newer: boolean } = {
    owner: undefined,
    records: [],
    unusable: [],
    newer: false,
  };
  let from = 0;
  let headDamaged = false;
  for (let end = bytes.indexOf(newline); ; end = bytes.indexOf(newline, from)) {
    const line = bytes.subarray(from, end < 0 ? bytes.length : end);
    const values = line.length === 0 ? [] : parseLine(line);
    if (values !== undefined) {
      for (const value of values) {
        take(read, value);
      }
    } else if (end >= 0) {
      read.unusable.push(line);
      headDamaged ||= from === 0;
    }
    if (end < 0) {
      return { ...read, headDamaged, torn: line.length > 0 };
    }
    from = end + 1;
  }
}

const newline = 10;
/** The checksum and the space after it, in bytes. */
const prefixLength = 9;

/** The records of a line. Undefined: the line is damaged. */
function parseLine(line: Uint8Array): unknown[] | undefined {
  const json = line.subarray(prefixLength);
  if (line.length <= prefixLength || toText(line.subarray(0, prefixLength - 1)) !== checksum(json)) {
    return undefined;
  }
  try {
    const values: unknown = JSON.parse(toText(json));
    return Array.isArray(values) ? values : undefined;
  } catch {
    return undefined; // no JSON, or nested too deeply
  }
}

/** Adds a record of a line. */
function take(
  read: { owner: JournalOwner | undefined; records: JournalRecord[]; unusable: Uint8Array[]; newer: boolean },
  value: unknown,
): void {
  const [kind, ...more] = isObject(value) ? Object.keys(value) : [];
  const body = isObject(value) && kind !== undefined ? value[kind] : undefined;
  const record = more.length === 0 ? parseRecord(kind, body) : undefined;
  const owner = kind === "header" ? parseOwner(body) : undefined;
  if (record !== undefined) {
    read.records.push(record);
  } else if (owner !== undefined) {
    read.owner = owner;
  } else if (isNewer(kind, body)) {
    read.newer = true;
  } else {
    read.unusable.push(Buffer.from(encodeJson(JSON.stringify([value])).trimEnd()));
  }
}

const kinds: ReadonlySet<string | undefined> = new Set(["header", "note", "forget", "promise"]);

/** Whether a record is of a kind that this version does not know, or a header of a later format. */
function isNewer(kind: string | undefined, body: unknown): boolean {
  if (kind === "header") {
    return isObject(body) && typeof body.format === "number" && body.format > newestFormat;
  }
  return kind !== undefined && /^[a-z]\w*$/i.test(kind) && !kinds.has(kind);
}

function parseOwner(body: unknown): JournalOwner | undefined {
  if (!isObject(body) || body.format !== newestFormat) {
    return undefined;
  }
  const { databaseId, coreId, epoch } = body;
  const known = typeof databaseId === "string" && typeof coreId === "string" && Number.isSafeInteger(epoch);
  return known ? { databaseId, coreId, epoch: epoch as number } : undefined;
}

/** Reads only what the journal itself needs of a record. Whether it can be charged is judged and told later. */
function parseRecord(kind: string | undefined, body: unknown): JournalRecord | undefined {
  if (kind === "forget") {
    return typeof body === "string" ? { forget: body } : undefined;
  }
  if (!isObject(body) || typeof body.requestId !== "string" || typeof body.runId !== "string") {
    return undefined;
  }
  if (kind === "note") {
    return isObject(body.tokens) ? { note: withKnownLabels(body as object as JournalEntry) } : undefined;
  }
  if (kind !== "promise") {
    return undefined;
  }
  // Facts only inform, so invalid facts are left out and never keep a charge from being made.
  const { facts, ...charge } = withKnownLabels(body as object as Charge);
  const known = readFacts(facts);
  return { promise: { ...charge, ...(known && { facts: known }) } };
}

/** Labels only inform, too. */
function withKnownLabels<Body extends { readonly labels?: string | undefined }>(body: Body): Body {
  return body.labels === undefined ? body : { ...body, labels: readLabels(body.labels) };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function checksum(json: string | Uint8Array): string {
  return crc32(json).toString(16).padStart(8, "0");
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
