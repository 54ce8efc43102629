import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { EngineRequest, ThinkingRecipe } from "#src/fleet/engines/interface.ts";

/** A model that does not think. */
export const plain: ThinkingRecipe = { mode: "none", depths: false, switch: "chat_template_kwargs" };

/** A request as an engine and as the fleet takes it. */
type AnyRequest = EngineRequest & {
  readonly requestId: string;
  readonly accountId?: string;
  readonly session?: string;
};

/** A generation of a conversation. */
export function chatRequest(
  conversation: string | MessageInitShape<typeof ConversationSchema>,
  more: Partial<AnyRequest> = {},
): AnyRequest {
  const init =
    typeof conversation === "string" ? { messages: [{ role: Role.USER, text: conversation }] } : conversation;
  return {
    requestId: "req-1",
    runId: "run-1",
    model: "m",
    prompt: { case: "conversation", value: create(ConversationSchema, init) },
    maxOutputTokens: 1000,
    sampling: create(SamplingSchema, { temperature: 0.7, topP: 1 }),
    stopSequences: [],
    recipe: plain,
    ...more,
  };
}

/** A generation that continues a text. */
export function textRequest(value: string, more: Partial<AnyRequest> = {}): AnyRequest {
  return { ...chatRequest("", more), prompt: { case: "text", value } };
}
