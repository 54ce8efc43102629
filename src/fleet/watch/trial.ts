import { create } from "@bufbuild/protobuf";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { byteBound } from "#lib/text/byte-bound.ts";
import { cutsInputs } from "#lib/text/cut-inputs.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import { EngineFault, UnrefusedInput } from "../engines/interface.ts";
import { templateTokens } from "../health/believable-tokens.ts";
import type { Member } from "../servers/member.ts";

/** Words beyond the context length. Each word has at least one token. */
const excess = 64;

/** A unique id: several cores may try out one server at the same time. */
const trialId = (): string => `trial-${systemRandom.uuid()}`;

/** Tries out a server before it gets work. Rejects when the server is not fit for the model. */
export function tryOut(member: Member, model: ServedModel, signal: AbortSignal): Promise<void> {
  return model.kind === "embedding" ? refusesLongInputs(member, model, signal) : warmsUp(member, model, signal);
}

/** The part of the context that is filled to see whether a server reads to the end. Some words have two tokens. */
const fitting = 0.6;

/**
 * Checks that an embedding server refuses an input that is too long: many servers truncate it silently. One that takes
 * such an input has to read to the end what it may take.
 */
async function refusesLongInputs(member: Member, model: ServedModel, signal: AbortSignal): Promise<void> {
  const words = model.context_length + excess;
  const text = new Array(words).fill("word").join(" ");
  const embed = (input: string) =>
    member.engine.embed({ runId: trialId(), model: member.model, inputs: [input] }, signal);
  const counted = await embed(text).then(({ inputTokens }) => inputTokens, countInRefusal);
  if (counted === undefined) {
    return;
  }
  const most = templateTokens(model) + byteBound(text);
  if (counted > most) {
    throw unfit(`counted ${counted} tokens in an input that has ${most} at most`);
  }
  if (counted < words) {
    throw unfit(`cuts long inputs silently: it read ${counted} tokens of ${words} words`);
  }
  const allowed = Math.floor((words / counted) * model.context_length * fitting);
  const cuts = await cutsInputs(embed, allowed).catch((error) => {
    countInRefusal(error); // a refusal cuts nothing
    return false;
  });
  if (cuts) {
    throw unfit(`cuts inputs silently that are shorter than ${model.context_length} tokens`);
  }
}

/** The tokens of an input that was taken although it is too long. Undefined: it was refused. Throws other failures. */
function countInRefusal(error: unknown): number | undefined {
  const detail = readDetail(error);
  if (detail === undefined || !refusals.includes(detail.reason)) {
    throw error;
  }
  const isTaken = error instanceof Error && error.cause instanceof UnrefusedInput;
  return isTaken ? Number(readTokenBound(detail).actual) : undefined;
}

const refusals: readonly Reason[] = [Reason.INPUT_TOO_LONG, Reason.CONTEXT_LENGTH_EXCEEDED, Reason.INVALID_ARGUMENT];

const unfit = (what: string) =>
  failure(Reason.ENGINE_FAILED, "The inference server is not fit.", {}, new EngineFault(what, false));

/** Sends a first request that nobody waits for: a server that was just started takes long over its first one. */
async function warmsUp(member: Member, model: ServedModel, signal: AbortSignal): Promise<void> {
  const value = create(ConversationSchema, { messages: [{ role: Role.USER, text: "Hi" }] });
  const request = {
    runId: trialId(),
    model: member.model,
    prompt: { case: "conversation", value },
    maxOutputTokens: 1,
    sampling: create(SamplingSchema),
    stopSequences: [],
    recipe: model.thinking,
  } as const;
  for await (const _ of member.engine.generate(request, signal)) {
    // Any answer will do.
  }
}
