import {
  type CreateChatCompletionRequest,
  CreateChatCompletionRequestSchema,
  type Stop,
} from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import type { CreateCompletionRequest } from "#gen/tollgate/chat/v1/completion_pb.js";
import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { samplingEntries } from "#lib/inference/sampling.ts";

/** The sampling fields that this surface accepts, and their names in its JSON. */
export const takenSampling = samplingEntries.filter(({ field }) => field in CreateChatCompletionRequestSchema.field);

/** The sampling of a request. Absent fields stay absent. */
export function toSampling(request: CreateChatCompletionRequest | CreateCompletionRequest): Sampling {
  const asked = request as unknown as Readonly<Record<string, unknown>>;
  const sampling: Record<string, unknown> = { $typeName: "tollgate.inference.v1.Sampling" };
  for (const { field } of takenSampling) {
    if (asked[field] !== undefined) {
      sampling[field] = asked[field];
    }
  }
  if (sampling.topK === -1) {
    sampling.topK = 0; // all candidates
  }
  return sampling as unknown as Sampling;
}

/** Texts that end the answer. An empty text, which some clients send for "none", is ignored. */
export function toStopSequences(stop: Stop | undefined): string[] {
  const texts = stop?.form.case === "texts" ? stop.form.value.texts : [stop?.form.value ?? ""];
  return (texts as string[]).filter((text) => text !== "");
}

/** The bound as the core takes it. Clients that mean "no bound" send a number beyond 32 bits. */
export function outputBound(tokens: bigint): number {
  return Math.min(Number(tokens), 2 ** 32 - 1);
}
