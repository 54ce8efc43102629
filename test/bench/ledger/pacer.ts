// The thread that says when requests come, so that a busy event loop delays none of them unseen: every millisecond it
// tells how many have come since the last one, and when it told so.

import { openSync, writeSync } from "node:fs";
import { workerData } from "node:worker_threads";
import { createQueueClock } from "../measure/queue-clock.ts";
import { type Arrival, encodeArrival } from "./arrival.ts";

/** A request comes later by no more than this, in milliseconds, than the moment that is told of it. */
const mostLate = 0.2;

const { rate, path } = workerData as { rate: number; path: string };
const sleeper = new Int32Array(new SharedArrayBuffer(4));
const now = () => Number(process.hrtime.bigint()) / 1e6;
const queuedNow = createQueueClock();

/** The present moment, taken again where the machine ran others meanwhile: that wait is this thread's own. */
function comeNow(): Arrival {
  for (;;) {
    const arrival = { at: now(), queued: queuedNow() };
    if (now() - arrival.at <= mostLate) {
      return arrival;
    }
  }
}

const pipe = openSync(path, "w");
const start = now();
for (let told = 0; ; ) {
  Atomics.wait(sleeper, 0, 0, 1);
  const count = Math.floor(((now() - start) * rate) / 1000) - told;
  told += count;
  if (count > 0) {
    const arrival = encodeArrival(comeNow());
    writeSync(pipe, Buffer.concat(Array.from({ length: count }, () => arrival)));
  }
}
