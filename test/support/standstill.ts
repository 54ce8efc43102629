import { eventually } from "./eventually.ts";
import { pause } from "./pause.ts";

const stillMs = 200;

/** Waits until a count has not changed for a fifth of a second, and returns it. */
export async function standstill(what: string, count: () => number): Promise<number> {
  let last = count();
  await eventually(`${what} stand still`, async () => {
    const before = last;
    await pause(stillMs, "the count may still move");
    last = count();
    return last === before;
  });
  return last;
}
