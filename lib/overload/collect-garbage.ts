import { Session } from "node:inspector";

/** Has V8 collect all garbage now. Takes about 100 ms for each GB in use. */
export function collectGarbage(): void {
  const session = new Session();
  session.connect();
  try {
    session.post("HeapProfiler.collectGarbage");
  } finally {
    session.disconnect();
  }
}
