import { EmbeddingsService } from "#gen/tollgate/embeddings/v1/embeddings_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { CallObserver } from "#src/wire/interceptors/observation/observe.ts";
import { type ModelDays, noModel } from "./model-days.ts";
import { type Outcome, toOutcome } from "./outcome.ts";

const methods: ReadonlySet<object> = new Set([InferenceService.method.generate, EmbeddingsService.method.embed]);

export interface Dependencies {
  readonly days: Pick<ModelDays, "ended">;
  readonly isServed: (model: string) => boolean;
  /** Called with every request that counts. */
  readonly counted: (outcome: Outcome) => void;
}

/** Counts every request for output when it is over. One without a known caller is in no day: anybody can make those. */
export function countRequests({ days, isServed, counted }: Dependencies): CallObserver {
  return ({ method, code, reason, model, caller }) => {
    const outcome = methods.has(method) ? toOutcome(code, reason) : undefined;
    if (outcome === undefined) {
      return;
    }
    counted(outcome);
    if (outcome !== "refused" || caller?.account !== undefined) {
      days.ended(isServed(model) ? model : noModel, outcome);
    }
  };
}
