import { setTimeout as sleep } from "node:timers/promises";

/** Waits until something becomes true; fails after ten seconds. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let i = 0; i < 1000; i++) {
    if (await condition()) {
      return;
    }
    await sleep(10);
  }
  throw new Error("it did not become true");
}
