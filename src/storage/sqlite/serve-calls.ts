import { parentPort } from "node:worker_threads";

/** A call of a method of a thread. */
export interface ThreadCall {
  readonly id: number;
  readonly method: string;
  readonly parameters: readonly unknown[];
}

/** The result of a call, or the error that it threw with SQLite's code and the system's. */
export type ThreadAnswer =
  | { readonly id: number; readonly result: unknown }
  | {
      readonly id: number;
      readonly error: string;
      readonly errcode: number | undefined;
      readonly code: string | undefined;
    };

/** Answers the calls of the process's main thread. They begin in the order in which they come. */
export function serveCalls(run: (method: string, parameters: readonly unknown[]) => Promise<unknown>): void {
  const answer = (message: ThreadAnswer) => parentPort?.postMessage(message);
  parentPort?.on("message", async ({ id, method, parameters }: ThreadCall) => {
    try {
      answer({ id, result: await run(method, parameters) });
    } catch (error) {
      const { message, errcode, code } = error as Error & { errcode?: number; code?: string };
      answer({ id, error: message, errcode, code });
    }
  });
}
