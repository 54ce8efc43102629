import { inspect } from "node:util";
import { pause } from "./pause.ts";

const longestPauseMs = 50;

/**
 * Asks until the answer is truthy, and returns it. Throws with the name of what is awaited and the last answer when that
 * takes longer than so many seconds.
 */
export async function eventually<T>(what: string, ask: () => T | Promise<T>, seconds = 45): Promise<NonNullable<T>> {
  const deadline = performance.now() + seconds * 1000;
  for (let wait = 1; ; wait = Math.min(2 * wait, longestPauseMs)) {
    const answer = await ask();
    if (answer) {
      return answer;
    }
    if (performance.now() > deadline) {
      throw new Error(`${what}: not within ${seconds} s; the last answer was ${inspect(answer)}`);
    }
    await pause(wait, "between two looks");
  }
}
