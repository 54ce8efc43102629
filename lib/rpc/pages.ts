import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "../errors/failure.ts";
import { parseJson } from "../text/json/parse.ts";
import { isStorable } from "../text/storable.ts";

// Lists are read page by page (AIP-158). A page begins after the last key of the page before, never at an offset, so
// that nothing is skipped or repeated while entries come and go.

/** Entries in one page: when the request does not say, and at most. */
export const pageSizes = { usual: 100, most: 1000 };

/** The page that a request asks for. */
export interface PageRequest {
  /** 0: the usual size. Above the most: the most. Never negative, because the contract refuses that. */
  readonly pageSize: number;
  /** Empty: the first page. */
  readonly pageToken: string;
}

/** One page of a list. */
export interface Page<T> {
  /** May be fewer than asked for, or none, where there is another page. */
  readonly entries: readonly T[];
  /** Empty: this was the last page. */
  readonly nextPageToken: string;
}

/** Where a page of a list begins. */
export interface PageStart {
  /** Only entries after this key. Undefined: from the first one. */
  readonly after: string | undefined;
  /** The number of entries to read: one more than fit the page, to see whether there is another. */
  readonly limit: number;
}

/** The entries of a page that ends early: what comes next is the next page's. */
export class CutPage<T> {
  readonly entries: readonly T[];
  /** The key after which the next page begins. Undefined: that of the last entry. */
  readonly after: string | undefined;

  constructor(entries: readonly T[], after?: string) {
    this.entries = entries;
    this.after = after;
  }
}

/**
 * Reads a page. `list` names the list and its filters: a token is valid only for its own list. `read` finds the
 * entries, `keyOf` returns their keys, and `isKey` refuses keys that no store could look for. Throws INVALID_ARGUMENT.
 */
export async function readPage<T>(
  list: string,
  { pageSize, pageToken }: PageRequest,
  read: (start: PageStart) => readonly T[] | Promise<readonly T[] | CutPage<T>>,
  keyOf: (entry: T) => string,
  isKey: (text: string) => boolean = isStorable,
): Promise<Page<T>> {
  const size = Math.min(pageSize || pageSizes.usual, pageSizes.most);
  const after = pageToken === "" ? undefined : readToken(list, pageToken);
  if (after !== undefined && !isKey(after)) {
    throw wrongToken(notOurs);
  }
  const answer = await read({ after, limit: size + 1 });
  const isCut = answer instanceof CutPage;
  const found = isCut ? answer.entries : answer;
  const entries = found.slice(0, size);
  const last = isCut || found.length > size ? entries.at(-1) : undefined;
  const next = (isCut ? answer.after : undefined) ?? (last && keyOf(last));
  return { entries, nextPageToken: next === undefined ? "" : writeToken(list, next) };
}

/** Finds a page in a list that is in memory. Throws INVALID_ARGUMENT when the entry that it begins after is gone. */
export function toPageOf<T>(entries: readonly T[], keyOf: (entry: T) => string): (start: PageStart) => readonly T[] {
  return ({ after, limit }) => {
    if (after === undefined) {
      return entries.slice(0, limit);
    }
    const at = entries.findIndex((entry) => keyOf(entry) === after);
    if (at < 0) {
      throw wrongToken("The list has changed: read it anew, from its first page.");
    }
    return entries.slice(at + 1, at + 1 + limit);
  };
}

const notOurs = "The page token is not of an answer to this call with the same arguments.";

/** Makes a token that is opaque to clients. */
function writeToken(list: string, key: string): string {
  return Buffer.from(JSON.stringify([list, key])).toString("base64url");
}

function readToken(list: string, token: string): string {
  const parts = parseJson(Buffer.from(token, "base64url").toString());
  if (
    Array.isArray(parts) &&
    parts[0] === list &&
    typeof parts[1] === "string" &&
    token === writeToken(list, parts[1])
  ) {
    return parts[1];
  }
  throw wrongToken(notOurs);
}

/** The error for a page token. */
function wrongToken(message: string): Error {
  return failure(Reason.INVALID_ARGUMENT, message, { parameter: "page_token" });
}

/** Reads all entries of a list, or at most `limit`, page by page. */
export async function readAll<Answer extends { readonly nextPageToken: string }, T>(
  ask: (page: PageRequest) => Promise<Answer>,
  entriesOf: (answer: Answer) => readonly T[],
  limit = Number.POSITIVE_INFINITY,
): Promise<T[]> {
  const all: T[] = [];
  for (let pageToken = ""; ; ) {
    const answer = await ask({ pageSize: Math.min(limit - all.length, pageSizes.most), pageToken });
    for (const entry of entriesOf(answer)) {
      all.push(entry);
    }
    if (answer.nextPageToken === "" || all.length >= limit) {
      return all;
    }
    pageToken = answer.nextPageToken;
  }
}
