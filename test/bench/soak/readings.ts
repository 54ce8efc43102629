import { usage } from "../measure/cpu.ts";
import type { Part } from "../systems/interface.ts";
import { readMetric } from "./metrics.ts";

/** What a process shows of itself at a time. Bytes, counts. */
export interface Reading {
  /** Seconds since the soak began. */
  readonly at: number;
  readonly resident: number;
  readonly heap: number;
  /** The part of the heap that outlives a few collections. */
  readonly oldHeap: number;
  /** Sockets, timers and the like that the event loop knows. */
  readonly handles: number;
  readonly files: number;
  /** What must be none when nobody asks for anything, by metric. */
  readonly unfinished: Readonly<Record<string, number>>;
  /** Requests that will never be charged. */
  readonly uncharged: number;
}

const unfinished = [
  "tollgate_http_requests_open",
  "tollgate_holds",
  "tollgate_held_usd",
  "tollgate_settlement_backlog",
];

/** Reads a process's metrics and its resident memory. Throws when it does not answer. */
export async function read({ name, pid, metrics }: Part, at: number): Promise<Reading> {
  const response = await fetch(metrics).catch((cause: unknown) => {
    throw new Error(`${name}, process ${pid}, does not show its metrics any more`, { cause });
  });
  const shown = await response.text();
  const metric = (metric: string, labels?: string) => readMetric(shown, metric, labels) ?? 0;
  return {
    at,
    resident: usage([pid]).resident,
    heap: metric("nodejs_heap_size_used_bytes"),
    oldHeap: metric("nodejs_heap_space_size_used_bytes", 'space="old"'),
    handles: metric("nodejs_active_resources_total"),
    files: metric("process_open_fds"),
    unfinished: Object.fromEntries(unfinished.map((name) => [name, metric(name)])),
    uncharged: metric("tollgate_uncharged_requests_total"),
  };
}
