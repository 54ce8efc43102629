import {
  type ChatCompletionChunk,
  ChatCompletionChunkSchema,
  type ChunkChoice,
  type Delta,
  type ToolCallDelta,
} from "#gen/tollgate/chat/v1/chat_completion_chunk_pb.js";
import { ServiceTier } from "#gen/tollgate/chat/v1/service_tier_pb.js";
import type { Finished, GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { jsonEncoder } from "../../http/json/encoder.ts";
import { textTemplate } from "../../http/json/text-template.ts";
import type { EventEncoder } from "../../http/response/sse.ts";
import { errorOf } from "../errors.ts";
import { toServiceTier } from "../service-tier.ts";
import type { Head } from "./head.ts";
import { toFinishReason, toUsage } from "./usage.ts";

const writeChunk = jsonEncoder(ChatCompletionChunkSchema);

/** The last line of every stream. */
export const done = "data: [DONE]\n\n";

/** A comment with a single line end: clients take a blank line after it for an empty event. */
export const keepAlive = ": keepalive\n";

/** Options of a stream of chunks. */
export interface StreamRules {
  /** Whether usage comes in a separate chunk after the finish reason, instead of beside it. */
  readonly separateUsage: boolean;
  readonly hideReasoning: boolean;
  /** Whether usage contains what each lot paid. */
  readonly withLots?: boolean;
  /** Whether each chunk contains the tier in which the request runs. */
  readonly tellsTier?: boolean;
}

/** Writes an answer as chunks: role; thinking, text and calls as they come; finish reason; usage; [DONE]. */
export function chatStream(head: Head, rules: StreamRules): EventEncoder {
  let serviceTier = ServiceTier.UNSPECIFIED;
  const chunk = (choices: ChunkChoice[], usage?: ChatCompletionChunk["usage"]): string => {
    const json = writeChunk({
      $typeName: "tollgate.chat.v1.ChatCompletionChunk",
      id: head.id,
      object: "chat.completion.chunk",
      created: head.created,
      model: head.model,
      choices,
      serviceTier,
      ...(usage !== undefined && { usage }),
    });
    return `data: ${json}\n\n`;
  };
  const delta = (content: Partial<Delta>): string => chunk([choice(content)]);
  const text = textTemplate((content) => delta({ content }));
  const reasoning = textTemplate((reasoning) => delta({ reasoning }));

  const finish = ({ reason, usage }: Finished): string => {
    const last = { ...choice({}), finishReason: toFinishReason(reason) };
    const used = toUsage(usage, rules.withLots);
    return (rules.separateUsage ? chunk([last]) + chunk([], used) : chunk([last], used)) + done;
  };

  const write = ({ event }: GenerationEvent): string => {
    switch (event.case) {
      case "started":
        serviceTier = rules.tellsTier ? toServiceTier(event.value.serviceClass) : serviceTier;
        return delta({ role: "assistant", content: "" });
      case "reasoning":
        return event.value === "" || rules.hideReasoning ? "" : reasoning(event.value);
      case "text":
        return event.value === "" ? "" : text(event.value);
      case "toolCallStarted": {
        const { index, id, name } = event.value;
        return delta({ toolCalls: [call(index, "", { id, type: "function" }, name)] });
      }
      case "toolCallArguments": {
        const { index, fragment } = event.value;
        return fragment === "" ? "" : delta({ toolCalls: [call(index, fragment)] });
      }
      case "finished":
        return finish(event.value);
      case undefined:
        return ""; // an unknown event from a newer core
    }
  };

  return {
    keepAlive,
    fail: (error) => `data: ${errorOf(error).body}\n\n${done}`,
    encode(events) {
      let said = "";
      for (const event of events) {
        said += write(event);
      }
      return said;
    },
  };
}

function choice(content: Partial<Delta>): ChunkChoice {
  return {
    $typeName: "tollgate.chat.v1.ChunkChoice",
    index: 0,
    delta: { $typeName: "tollgate.chat.v1.Delta", toolCalls: [], ...content },
  };
}

/** A piece of a tool call. Its id, type and name come once, with the first piece. */
function call(index: number, fragment: string, first?: { id: string; type: string }, name?: string): ToolCallDelta {
  return {
    $typeName: "tollgate.chat.v1.ToolCallDelta",
    index,
    ...first,
    function: {
      $typeName: "tollgate.chat.v1.FunctionCallDelta",
      ...(name !== undefined && { name }),
      arguments: fragment,
    },
  };
}
