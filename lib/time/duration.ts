/** A span in the form of google.protobuf.Duration. */
export interface Duration {
  readonly seconds: bigint;
  /** Below 1e9. */
  readonly nanos: number;
}

/** Milliseconds as a protobuf duration, to the nanosecond. */
export function toDuration(ms: number): Duration {
  const nanos = Math.round(ms * 1e6); // before the split: a fraction may round up to a whole second
  return { seconds: BigInt(Math.floor(nanos / 1e9)), nanos: nanos % 1e9 };
}

/** A protobuf duration in whole milliseconds, rounded up, so that waiting that long is long enough. */
export function toMilliseconds({ seconds, nanos }: Duration): number {
  return Number(seconds) * 1000 + Math.ceil(nanos / 1e6);
}
