import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { Outcome, Settings } from "./simulate.ts";

/** What the threads should live. */
export interface Task {
  readonly first: number;
  readonly seeds: number;
  readonly threads: number;
  readonly settings: Omit<Settings, "tell" | "instead" | "alter">;
  /** The name of the guarantee that is taken out. Undefined: none is. */
  readonly broken: string | undefined;
  /** Asked before each world: whether there should be another one. */
  readonly mayGoOn: () => boolean;
}

/** A world for a thread to live. */
export interface Turn {
  readonly seed: number;
  readonly settings: Task["settings"];
  readonly broken: string | undefined;
}

/** Lives worlds on several threads, each with its own server. A world stays in one thread from beginning to end. */
export async function liveInThreads(
  { first, seeds, threads, settings, broken, mayGoOn }: Task,
  took: (outcome: Outcome) => void,
) {
  let next = first;
  const live = async () => {
    const worker = new Worker(new URL("./thread.ts", import.meta.url));
    try {
      while (next < first + seeds && mayGoOn()) {
        const turn: Turn = { seed: next++, settings, broken };
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
