// The thread that says when requests come, so that a busy event loop delays none of them unseen: every millisecond it
// tells how many have come since the last one, and when it told so.

import { parentPort, workerData } from "node:worker_threads";
import { createQueueClock } from "../measure/queue-clock.ts";

/** Requests that have just come. */
export interface Arrivals {
  readonly count: number;
  /** By the system's monotonic clock, in milliseconds. */
  readonly at: number;
  /** For how long the event loop's thread had waited for a processor until then, in milliseconds. */
  readonly queued: number;
}

const { rate } = workerData as { rate: number };
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const now = () => Number(process.hrtime.bigint()) / 1e6;

const queuedNow = createQueueClock();
const start = now();
for (let told = 0; ; ) {
  Atomics.wait(sleeper, 0, 0, 1);
  const at = now();
  const count = Math.floor(((at - start) * rate) / 1000) - told;
  told += count;
  if (count > 0) {
    parentPort?.postMessage({ count, at, queued: queuedNow() } satisfies Arrivals);
  }
}
