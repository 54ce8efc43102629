import type { CreateChatCompletionRequest, Stop } from "#gen/tollgate/chat/v1/chat_completion_pb.js";
import type { CreateCompletionRequest } from "#gen/tollgate/chat/v1/completion_pb.js";
import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";

/** How tokens are chosen; what was not said stays unsaid. */
export function toSampling(request: CreateChatCompletionRequest | CreateCompletionRequest): Sampling {
  const sampling: Sampling = { $typeName: "tollgate.inference.v1.Sampling" };
  if (request.temperature !== undefined) sampling.temperature = request.temperature;
  if (request.topP !== undefined) sampling.topP = request.topP;
  if (request.presencePenalty !== undefined) sampling.presencePenalty = request.presencePenalty;
  if (request.frequencyPenalty !== undefined) sampling.frequencyPenalty = request.frequencyPenalty;
  if (request.seed !== undefined) sampling.seed = request.seed;
  return sampling;
}

/** Texts that end the answer. An empty one, which some clients send for "none", ends nothing. */
export function toStopSequences(stop: Stop | undefined): string[] {
  const texts = stop?.form.case === "texts" ? stop.form.value.texts : [stop?.form.value ?? ""];
  return (texts as string[]).filter((text) => text !== "");
}

/** The bound as the core takes it: a client that means "no bound" sends a number beyond 32 bits. */
export function outputBound(tokens: bigint): number {
  return Math.min(Number(tokens), 2 ** 32 - 1);
}
