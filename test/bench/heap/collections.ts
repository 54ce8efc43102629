/** What V8 did to reclaim the memory of one thread. */
export interface Collections {
  /** Small collections, and full ones. */
  readonly small: number;
  readonly full: number;
  /** Bytes that were allocated, and those that outlived two small collections. */
  readonly allocated: number;
  readonly promoted: number;
}

/** A collection as `--trace-gc-nvp` prints it; in front of it the process, its isolate and the time. */
const line = /\[\d+:(0x[0-9a-f]+)[^\]]*\][^{\n]*GC: (\{.*\})/g;

const none: Collections = { small: 0, full: 0, allocated: 0, promoted: 0 };

/** Sums up the lines of the isolate that collected most, which is the main thread under load. */
export function sumCollections(output: string): Collections {
  const isolates = new Map<string, Collections>();
  for (const [, isolate = "", text = ""] of output.matchAll(line)) {
    const sum = isolates.get(isolate) ?? none;
    const found = JSON.parse(text);
    const isSmall = found.gc === "s";
    isolates.set(isolate, {
      small: sum.small + (isSmall ? 1 : 0),
      full: sum.full + (isSmall ? 0 : 1),
      allocated: sum.allocated + found.allocated,
      promoted: sum.promoted + (isSmall ? found.promoted : 0),
    });
  }
  return [...isolates.values()].reduce((most, sum) => (sum.allocated > most.allocated ? sum : most), none);
}
