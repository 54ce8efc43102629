import type { RequestRecord } from "#src/storage/entities/history/request-record.ts";

/** A refused request as it is recorded. */
export type RefusedRequest = Omit<RequestRecord, "id" | "at" | "accountId"> & {
  /** Undefined: the credential was not of an account. */
  readonly accountId: string | undefined;
  /** In milliseconds since the epoch. */
  readonly at: number;
};

/** What a record of requests keeps. */
export interface RecordBounds {
  /** Older ones leave. In milliseconds since the epoch. */
  readonly before: number;
  /** Beyond so many, the oldest leave. */
  readonly most: number;
}

/** Keeps the record of refused requests, which is no part of the books. */
export interface RequestStore {
  /** Adds to the record, and removes some of what is beyond its bounds. A crash may take the last ones back. */
  recordRequests(requests: readonly RefusedRequest[], bounds: RecordBounds): Promise<void>;
}
