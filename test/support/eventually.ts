import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { pause } from "./pause.ts";

const longestPauseMs = 50;
/** Seconds after which an answer counts as missing: its name is reported before the test's own time is over. */
const hungSeconds = 100;

/**
 * Asks repeatedly until the answer is truthy, and returns it. When that takes longer than `seconds`, or an answer never
 * comes, throws with the name of what is awaited and the last answer.
 */
export async function eventually<T>(what: string, ask: () => T | Promise<T>, seconds = 45): Promise<NonNullable<T>> {
  const deadline = performance.now() + seconds * 1000;
  for (let wait = 1; ; wait = Math.min(2 * wait, longestPauseMs)) {
    const answer = await inTime(what, ask());
    if (answer) {
      return answer;
    }
    if (performance.now() > deadline) {
      throw new Error(`${what}: not within ${seconds} s; the last answer was ${inspect(answer)}`);
    }
    await pause(wait, "between two looks");
  }
}

async function inTime<T>(what: string, answer: T | Promise<T>): Promise<T> {
  if (!(answer instanceof Promise)) {
    return answer;
  }
  const done = new AbortController();
  const late = sleep(hungSeconds * 1000, undefined, { signal: done.signal }).then(
    () => Promise.reject(new Error(`${what}: no answer within ${hungSeconds} s`)),
    () => answer,
  );
  try {
    return await Promise.race([answer, late]);
  } finally {
    done.abort();
  }
}
