/** What a worker tells the process that supervises it. */
export type FromWorker =
  /** It takes requests; host:port of each server. */
  | { readonly type: "ready"; readonly addresses: Readonly<Record<string, string>> }
  /** It takes no more. */
  | { readonly type: "draining" }
  /** The operator had it drain or resume a server. */
  | Drain
  /** Its metrics in Prometheus' text format, in answer to a question. */
  | { readonly type: "metrics"; readonly question: number; readonly text: string };

/** What it is asked, and what it has to know of another one. */
export type ToWorker = { readonly type: "metrics"; readonly question: number } | Drain;

/** A server gets no new work of any worker, or again. */
export interface Drain {
  readonly type: "drain";
  readonly server: string;
  readonly draining: boolean;
}
