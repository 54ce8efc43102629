import { setFlagsFromString } from "node:v8";

/** By how much V8 multiplies the size of its young space where much outlives a collection, when nobody says otherwise. */
const usual = 2;

/**
 * Keeps V8's young space as small as it is at first, some 2 MiB. What a start loads lives on, for which V8 doubles the space until
 * it has 32 MiB, and a process that nobody asks anything would keep them. Doing so again changes nothing.
 */
export function keepYoungSpaceSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Lets the young space grow as the work needs it. Doing so again changes nothing. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString(`--semi-space-growth-factor=${usual}`);
}
