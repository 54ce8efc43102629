import type { Receipt } from "#gen/tollgate/metering/v1/usage_pb.js";

/** A place in a list of receipts, newest first: the time of settlement in milliseconds, the run, and the request. */
export interface ReceiptPlace {
  readonly settledMs: number;
  readonly runId: string;
  readonly requestId: string;
}

/** The archived receipts that are wanted. An empty text matches all. */
export interface ArchivedQuestion {
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly requestId: string;
  /** The label that is asked for, and its value. Undefined: any, and none. Empty: none. Absent: all match. */
  readonly label?: { readonly name: string; readonly value: string | undefined };
  /** Settled at or after, and before, in milliseconds since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Only those after it in the list. Undefined: from the first one on. */
  readonly after: ReceiptPlace | undefined;
}

/**
 * Receipts that have left the books, from their archives. Throws ARCHIVE_CHANGED for an archive that is not the one that
 * was written, and RECEIPT_ARCHIVED for one that is gone: of one request, where no other archive has it.
 */
export interface ArchivedReceipts {
  /** The receipts of a request's runs, oldest first. None: no archive has any. With an account, those of others may be missing. */
  find(requestId: string, accountId: string | undefined): Promise<Receipt[]>;
  /** Newest first. */
  list(question: ArchivedQuestion): AsyncGenerator<Receipt>;
  /** An account's receipts of a span, oldest first. */
  listOldestFirst(question: Pick<ArchivedQuestion, "accountId" | "fromMs" | "toMs">): AsyncGenerator<Receipt>;
  /** The archives that are not the files that were written. */
  findFaulty(): Promise<FaultyArchive[]>;
}

/** An archive that is not the file that was written. */
export interface FaultyArchive {
  /** Such as 2026-01-31. */
  readonly day: string;
  /** What is there instead, in words: another file, or none. */
  readonly found: string;
}

/** The place of a receipt in a list. */
export const placeOf = ({ settledAt, runId, requestId }: Receipt): ReceiptPlace => ({
  settledMs: Number(settledAt?.seconds ?? 0n) * 1000 + Math.floor((settledAt?.nanos ?? 0) / 1e6),
  runId,
  requestId,
});

/** Whether a place comes after another one in a list, newest first. */
export function isAfter(a: ReceiptPlace, b: ReceiptPlace): boolean {
  if (a.settledMs !== b.settledMs) {
    return a.settledMs < b.settledMs;
  }
  return a.runId === b.runId ? a.requestId < b.requestId : a.runId < b.runId;
}
