import { Session } from "node:inspector";

/** Has V8 collect all garbage now. Takes some 100 ms a GB that is in use. */
export function collectGarbage(): void {
  const session = new Session();
  session.connect();
  try {
    session.post("HeapProfiler.collectGarbage");
  } finally {
    session.disconnect();
  }
}
