import { create } from "@bufbuild/protobuf";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "../../../lib/errors/detail.ts";
import { failure } from "../../../lib/errors/failure.ts";
import { systemRandom } from "../../../lib/ids/random.ts";
import { byteBound } from "../../../lib/text/byte-bound.ts";
import type { ServedModel } from "../../catalogue/interface.ts";
import { EngineFault } from "../../engines/interface.ts";
import type { Member } from "../servers/member.ts";
import { templateTokens } from "./believable-tokens.ts";

/** Words beyond the context length. Each word has at least one token. */
const excess = 64;

/** A unique id: several cores may try out one server at the same time. */
const trialId = (): string => `trial-${systemRandom.uuid()}`;

/** Tries out a server before it gets work. Rejects when the server is not fit for the model. */
export function tryOut(member: Member, model: ServedModel, signal: AbortSignal): Promise<void> {
  return model.kind === "embedding" ? refusesLongInputs(member, model, signal) : warmsUp(member, model, signal);
}

/** Checks that an embedding server refuses an input that is too long: many servers truncate it silently. */
async function refusesLongInputs(member: Member, model: ServedModel, signal: AbortSignal): Promise<void> {
  const words = model.context_length + excess;
  const inputs = [new Array(words).fill("word").join(" ")];
  let counted: number;
  try {
    ({ inputTokens: counted } = await member.engine.embed({ runId: trialId(), model: member.model, inputs }, signal));
  } catch (error) {
    const reason = readDetail(error)?.reason;
    const refused = [Reason.INPUT_TOO_LONG, Reason.CONTEXT_LENGTH_EXCEEDED, Reason.INVALID_ARGUMENT];
    if (reason !== undefined && refused.includes(reason)) {
      return;
    }
    throw error;
  }
  const most = templateTokens(model) + byteBound(inputs.join(""));
  if (counted >= words && counted <= most) {
    return; // the server accepts more than we promise
  }
  const what =
    counted > most
      ? `counted ${counted} tokens in an input that has ${most} at most`
      : `cuts long inputs silently: it read ${counted} tokens of ${words} words`;
  throw failure(Reason.ENGINE_FAILED, "The inference server is not fit.", {}, new EngineFault(what, false));
}

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
