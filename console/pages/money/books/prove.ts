import type { ReconcileResponse } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { books } from "../../../contract/clients.ts";

/** The progress of a proof. */
export interface Progress {
  /** Rules that were proved, and all rules. */
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

/** Proves the books and reports the progress. */
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
