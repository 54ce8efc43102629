/** What a worker tells the process that supervises it. */
export type FromWorker =
  /** It takes requests; host:port of each server. */
  | { readonly type: "ready"; readonly addresses: Readonly<Record<string, string>> }
  /** It takes no more. */
  | { readonly type: "draining" }
  /** Its metrics in Prometheus' text format, in answer to a question. */
  | { readonly type: "metrics"; readonly question: number; readonly text: string };

/** What it is asked. */
export interface ToWorker {
  readonly type: "metrics";
  readonly question: number;
}
