import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { formatAgo, formatTime, formatUtc, toDate } from "../../format/time.ts";

/** A time in the reader's zone. Its title has the time in UTC. */
export function Time({ at, isRelative }: { readonly at: Timestamp | undefined; readonly isRelative?: boolean }) {
  if (at === undefined) {
    return <span class="muted">–</span>;
  }
  const date = toDate(at);
  return (
    <time dateTime={date.toISOString()} title={formatUtc(date)}>
      {isRelative ? formatAgo(date) : formatTime(date)}
    </time>
  );
}
