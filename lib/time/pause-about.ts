import { systemRandom } from "../ids/random.ts";

/**
 * Waits for half of a span in milliseconds up to one and a half of it, so that two that collided do not collide again. A process
 * does not end meanwhile.
 */
export function pauseAbout(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms * (0.5 + systemRandom.fraction()));
  });
}
