import { engineFailed } from "../faults.ts";

/** A server that takes less than the model's context is no server for it. Throws ENGINE_FAILED. */
export function checkLimit(where: string, longest: number, wanted: number): void {
  if (longest >= wanted) return;
  throw engineFailed(`${where} takes ${longest} tokens, not ${wanted}: raise --max-batch-tokens`, false);
}
