/**
 * Names one run of a request. Callers choose request ids, so one may come again, on another core or from another
 * account; a run id is made here, at admission, and never comes again. Money is charged once a run.
 */
export interface Run {
  readonly requestId: string;
  /** A UUID. */
  readonly runId: string;
}

/** The run of every request that was charged before runs had ids, when no request id could come again. */
export const firstRun = "00000000-0000-0000-0000-000000000000";

/** The key of a run in a map. */
export const runKey = ({ requestId, runId }: Run): string => (runId === firstRun ? requestId : runId);

/** The key of an account's request in a map: ids of callers count within their account. */
export const requestKey = ({
  accountId,
  requestId,
}: {
  readonly accountId: string;
  readonly requestId: string;
}): string => `${accountId} ${requestId}`;
