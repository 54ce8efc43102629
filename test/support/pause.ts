import { setTimeout as sleep } from "node:timers/promises";

/**
 * Lets real time pass where the passing of time is itself under test: a client that reads slowly, load at a pace, a
 * time in which nothing may happen. A test that waits for something to happen uses `eventually`.
 */
export async function pause(ms: number, _why: string): Promise<void> {
  await sleep(ms);
}

/** Stops the thread, as much work of its own would, while the network and other processes go on. */
export function block(ms: number, _why: string): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
