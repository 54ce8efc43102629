import { setFlagsFromString } from "node:v8";

/** After how many calls V8 optimizes a function, by its two optimizing compilers: what it does by itself. */
const usual = { maglev: 400, turbofan: 3000 };
/** How many times as many calls it takes meanwhile. Work that is long all the same, such as a large recovery, gets there. */
const later = 10;

/**
 * Has V8 optimize only what is called ten times as often as usual. A start calls little for long, and a tenth of its CPU would go
 * into code that it is done with by then. A repeated call changes nothing.
 */
export function optimizeLater(): void {
  setCalls(later);
}

/** Has V8 optimize as it does by itself. What has been called often enough by then is next. A repeated call changes nothing. */
export function optimizeAsUsual(): void {
  setCalls(1);
}

function setCalls(times: number): void {
  for (const [compiler, calls] of Object.entries(usual)) {
    setFlagsFromString(`--invocation-count-for-${compiler}=${calls * times}`);
  }
}
