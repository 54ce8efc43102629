import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { books } from "../../contract/clients.ts";

/** How far a proof is. */
export interface Progress {
  /** Rules that are proved, and rules that there are. */
  readonly done: number;
  readonly total: number;
  /** The rule that is being proved, in words. */
  readonly rule: string;
}

/** A finished proof. */
export interface Proof {
  readonly answer: ReconcileResponse;
  readonly at: Date;
  readonly tookMs: number;
}

/** Proves the books and tells how far it is. */
export async function prove(signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<Proof> {
  const begun = performance.now();
  for await (const { proof, done, total, rule } of books.streamReconcile({}, { signal })) {
    if (proof !== undefined) {
      return { answer: proof, at: new Date(), tookMs: performance.now() - begun };
    }
    onProgress({ done, total, rule });
  }
  throw new Error("The proof broke off before its end.");
}
