import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Outcome, Settings } from "./simulate.ts";

/** What the threads are to live. */
export interface Task {
  readonly first: number;
  readonly seeds: number;
  readonly threads: number;
  readonly settings: Omit<Settings, "tell" | "instead" | "alter">;
  /** Asked before each world: whether there is to be another one. */
  readonly mayGoOn: () => boolean;
}

/** A world that a thread is to live. */
export interface Turn {
  readonly seed: number;
  readonly settings: Task["settings"];
}

/** Lives worlds on several threads, each of which has a server of its own; a world is in one thread from its beginning to its end. */
export async function liveInThreads(
  { first, seeds, threads, settings, mayGoOn }: Task,
  took: (outcome: Outcome) => void,
) {
  let next = first;
  const live = async () => {
    const worker = new Worker(new URL("./thread.ts", import.meta.url));
    try {
      while (next < first + seeds && mayGoOn()) {
        const turn: Turn = { seed: next++, settings };
        const answered = once(worker, "message") as Promise<[Outcome]>;
        worker.postMessage(turn);
        took((await answered)[0]);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: Math.min(threads, seeds) }, live));
}
