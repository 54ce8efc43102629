/** A message from a worker to its supervisor. */
export type FromWorker =
  /** It takes requests; host:port of each server. */
  | { readonly type: "ready"; readonly addresses: Readonly<Record<string, string>> }
  /** It takes no more. */
  | { readonly type: "draining" }
  /** The operator had it drain or resume a server. */
  | Drain
  /** Its metrics in Prometheus' text format, in answer to a question. */
  | { readonly type: "metrics"; readonly question: number; readonly text: string };

/** A message from the supervisor to a worker: a question, or news of another worker. */
export type ToWorker = { readonly type: "metrics"; readonly question: number } | Drain;

/** A server gets no new work of any worker, or again. */
export interface Drain {
  readonly type: "drain";
  readonly server: string;
  readonly draining: boolean;
}
