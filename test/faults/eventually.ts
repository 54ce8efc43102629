import { setTimeout as sleep } from "node:timers/promises";

/** Waits until something holds. Throws with its name when it does not in time. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>, seconds = 120): Promise<void> {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await sleep(50)) {
    if (await holds()) {
      return;
    }
  }
  throw new Error(`${what}: not within ${seconds} s`);
}
