/**
 * Identifies one run of a request. Callers choose request ids, so the same one may come again, on another core or from
 * another account. A run id is made here, at admission, and never comes again. Money is charged once for each run.
 */
export interface Run {
  readonly requestId: string;
  /** A UUID. */
  readonly runId: string;
}

/** The run id of requests that were charged before runs had ids, when no request id could come again. */
export const firstRun = "00000000-0000-0000-0000-000000000000";

/** The key of a run in a map. */
export const runKey = ({ requestId, runId }: Run): string => (runId === firstRun ? requestId : runId);

/** The key of an account's request in a map. Ids chosen by callers are unique only within their account. */
export const requestKey = ({
  accountId,
  requestId,
}: {
  readonly accountId: string;
  readonly requestId: string;
}): string => `${accountId} ${requestId}`;
