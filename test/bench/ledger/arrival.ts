/** A request that has just come. */
export interface Arrival {
  /** By the system's monotonic clock, in milliseconds. */
  readonly at: number;
  /** For how long the event loop's thread had waited for a processor until then, in milliseconds. */
  readonly queued: number;
}

/** Divides what a pipe holds, and what is read of it at once. */
const size = 16;

/** An arrival as it goes through a pipe. */
export function encodeArrival({ at, queued }: Arrival): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeDoubleLE(at, 0);
  bytes.writeDoubleLE(queued, 8);
  return bytes;
}

/** The arrivals in what was read of a pipe. */
export function decodeArrivals(bytes: Buffer): Arrival[] {
  return Array.from({ length: bytes.length / size }, (_, place) => ({
    at: bytes.readDoubleLE(place * size),
    queued: bytes.readDoubleLE(place * size + 8),
  }));
}
