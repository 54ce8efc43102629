import { setTimeout as sleep } from "node:timers/promises";

/**
 * Lets real time pass where the passing of time is itself under test: a client that reads slowly, load at a pace, a
 * time in which nothing may happen. A test that waits for something to happen uses `eventually`.
 */
export async function pause(ms: number, _why: string): Promise<void> {
  await sleep(ms);
}
