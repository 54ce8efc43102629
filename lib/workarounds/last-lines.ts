import fs from "node:fs";

/*
 * Wrong: what sonic-boom writes at the end of a process it tries for ever, on the main thread, so that no signal is heard:
 * where nobody reads any more, and where the disk is full. What it has just handed to another thread may be lost, since it does
 * not wait for that.
 * Upstream: sonic-boom 4.2.1 (`flushSync`, and `_writing`, which is private).
 * Still needed while test/lib/workarounds/last-lines.test.ts sees a process without a reader go on for ever without it.
 * Delete when `flushSync` ends by itself.
 */

/** An output of sonic-boom. */
interface Output {
  flushSync(): void;
  readonly _writing?: boolean;
}

/** What is used of `writeSync`. */
type Write = (fd: number, text: never, encoding: never) => number;

/** Milliseconds for what another thread has begun to write. */
const begunMs = 50;
/** A reader is slow, and is tried again. */
const slow: ReadonlySet<unknown> = new Set(["EAGAIN", "EBUSY"]);

/** Has the last lines of an output written as far as they can be. What cannot be written is lost. */
export function boundLastLines(output: Output): void {
  const flushSync = output.flushSync.bind(output);
  output.flushSync = () => {
    if (output._writing) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, begunMs);
    }
    const writes = fs as { writeSync: Write };
    const { writeSync } = writes;
    writes.writeSync = givesUp(writeSync);
    try {
      flushSync();
    } finally {
      writes.writeSync = writeSync;
    }
  };
}

/** Takes for written what cannot be. */
function givesUp(write: Write): Write {
  return (fd, text, encoding) => {
    try {
      return write(fd, text, encoding);
    } catch (error) {
      if (slow.has((error as NodeJS.ErrnoException).code)) {
        throw error;
      }
      return Buffer.byteLength(text as string);
    }
  };
}
