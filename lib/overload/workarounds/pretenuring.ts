import { setFlagsFromString } from "node:v8";

/*
 * Wrong: V8 counts which objects of a literal survive a small collection. Once nearly all of some hundred did, V8 makes
 * the objects of that literal in the old space from then on, for good. A hundred requests that all run at the moment of
 * one collection are enough. From then on each request leaves an old object behind, and everything that it refers to
 * survives every small collection until the next full one: 12 KB a plain request, which took a quarter of its CPU time
 * and 180 MiB.
 * Upstream: V8 14 in Node.js 26 (`Heap::..PretenuringHandler`, allocation sites); 12 in Node.js 22 does the same.
 * Still needed while test/lib/overload/workarounds/pretenuring.test.ts sees the old space grow without it.
 * Delete when V8 takes such a decision back.
 */

/**
 * Has V8 make every object of a literal in the young space, whatever became of earlier ones. A repeated call changes
 * nothing.
 */
export function keepLiteralsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}
