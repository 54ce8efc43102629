import { setFlagsFromString } from "node:v8";

/** The default factor by which V8 grows its young space when many objects survive a collection. */
const usual = 2;

/**
 * Keeps V8's young space at its initial size, about 2 MiB. Everything that a start loads survives, so V8 would double
 * the space up to 32 MiB, and an idle process would keep that memory. A repeated call changes nothing.
 */
export function keepYoungSpaceSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** Lets the young space grow as the work needs it. A repeated call changes nothing. */
export function letYoungSpaceGrow(): void {
  setFlagsFromString(`--semi-space-growth-factor=${usual}`);
}
