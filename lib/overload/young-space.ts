import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

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

/** What work that keeps nothing needs: a smaller space would be collected before most of what is in use for a moment is garbage. */
const enoughBytes = 16 * 2 ** 20;
let bounded = 0;

/**
 * Passes pieces on whose making leaves garbage alone. V8 counts what each collection finds in use for the moment, so that any
 * long work would have the young space grow to its largest size, 64 MiB: it grows no further than it is worth meanwhile.
 */
export async function* inBoundYoungSpace<T>(pieces: AsyncIterable<T>): AsyncGenerator<T> {
  bounded++;
  try {
    for await (const piece of pieces) {
      if (youngSpaceBytes() >= enoughBytes) {
        keepYoungSpaceSmall();
      }
      yield piece;
    }
  } finally {
    bounded--;
    if (bounded === 0) {
      letYoungSpaceGrow();
    }
  }
}

function youngSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space")?.space_size ?? 0;
}
