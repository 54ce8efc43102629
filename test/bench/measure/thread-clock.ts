import { WASI } from "node:wasi";

/** What is used of WebAssembly, which Node's types leave to those of browsers. */
interface WebAssemblyParts {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
  ) => { readonly exports: { readonly memory: { readonly buffer: ArrayBuffer } } };
}

/** A WebAssembly module with a page of memory and nothing else. */
const memoryOnly = Buffer.from("0061736d010000000503010001070a01066d656d6f72790200", "hex");
/** The CPU clock of the calling thread, as WASI numbers clocks. */
const threadCpuClock = 3;

/**
 * Makes a clock of this thread's CPU time in microseconds. It stands still while others have the CPU, and tells nanoseconds
 * where Node's own functions tell what the scheduler noted last; a look at it costs less than a microsecond.
 */
export function createThreadClock(): () => number {
  const wasi = new WASI({ version: "preview1" });
  const { Instance, Module } = Reflect.get(globalThis, "WebAssembly") as WebAssemblyParts;
  const instance = new Instance(new Module(memoryOnly));
  wasi.initialize(instance);
  const read = wasi.wasiImport.clock_time_get as (clock: number, precision: bigint, at: number) => number;
  const time = new BigUint64Array(instance.exports.memory.buffer);
  return () => {
    read(threadCpuClock, 1n, 0);
    return Number(time[0]) / 1000;
  };
}
