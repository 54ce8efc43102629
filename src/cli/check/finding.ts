/** The result of checking one part. A warning is worth knowing. "wrong" has to be mended. */
export interface Finding {
  /** Such as "storage" or "server http://10.0.0.5:8000". */
  readonly part: string;
  readonly status: Status;
  /** The finding, and how to mend it. */
  readonly message: string;
}

export type Status = "ok" | "warning" | "wrong";

/** How long a part may take to answer. */
export const patienceMs = 5000;

/** Why something failed, in one line. */
export function toReason(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return toReason(error.errors[0]);
  }
  if (!(error instanceof Error)) {
    return String(error);
  }
  return error.message || (error as NodeJS.ErrnoException).code || error.name;
}
