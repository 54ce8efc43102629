/** A message from a worker to its supervisor. */
export type FromWorker =
  /** The worker takes requests. The addresses are host:port of each server. */
  | { readonly type: "ready"; readonly addresses: Readonly<Record<string, string>> }
  /** The worker takes no more requests. */
  | { readonly type: "draining" }
  /** The operator drained or resumed a server at this worker. */
  | Drain
  /** The worker's metrics in Prometheus' text format, in answer to a question. */
  | { readonly type: "metrics"; readonly question: number; readonly text: string };

/** A message from the supervisor to a worker: a question, or news of another worker. */
export type ToWorker = { readonly type: "metrics"; readonly question: number } | Drain;

/** A server gets no new work from any worker, or gets it again. */
export interface Drain {
  readonly type: "drain";
  readonly server: string;
  readonly draining: boolean;
}
