import { createHash } from "node:crypto";
import type { Charge } from "../../../model/charges/charge.ts";
import type { Run } from "../../../model/charges/run.ts";
import type { StoredCharge } from "../../../model/store/charge.ts";

/**
 * Returns a charge for the part of a run that the store's charge leaves out. A recovered charge covers the tokens last
 * noted. When the core that was taken for dead comes back, or a fuller journal of it turns up, the further tokens are
 * charged as a run of their own. Undefined: nothing is left, because any other charge covers all tokens.
 */
export function toRest(charge: Charge, stored: StoredCharge): Charge | undefined {
  const inputTokens = Math.max(0, charge.inputTokens - stored.inputTokens);
  const outputTokens = Math.max(0, charge.outputTokens - stored.outputTokens);
  if (stored.status !== "recovered" || inputTokens + outputTokens === 0) {
    return undefined;
  }
  return { ...charge, runId: toNextRun(charge), inputTokens, outputTokens, cost: 0, shortfall: 0, lines: [] };
}

/** The rest's run id. Every process with the same rest to charge makes the same id, so the rest is charged once. */
function toNextRun({ requestId, runId }: Run): string {
  const hex = createHash("sha256").update(`rest of ${runId} ${requestId}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
