import { Code, ConnectError } from "@connectrpc/connect";
import type { FinishReason, Usage } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { GenerateResponse } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { Exchange } from "../exchange.ts";

/** A whole answer. */
export interface Answer {
  /** The thinking. Empty: none. */
  readonly reasoning: string;
  readonly text: string;
  /** The calls, in the order of their index. */
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
}

/** Gathers an answer that is not streamed, and notes the rate limit that the core tells. */
export async function collectAnswer(exchange: Exchange, stream: AsyncIterable<GenerateResponse>): Promise<Answer> {
  let reasoning = "";
  let text = "";
  const toolCalls: { id: string; name: string; arguments: string }[] = [];
  let end: { finishReason: FinishReason; usage: Usage } | undefined;
  for await (const { events } of stream) {
    for (const { event } of events) {
      switch (event.case) {
        case "started":
          exchange.rateLimit = event.value.rateLimit;
          break;
        case "reasoning":
          reasoning += event.value;
          break;
        case "text":
          text += event.value;
          break;
        case "toolCallStarted":
          toolCalls[event.value.index] = { id: event.value.id, name: event.value.name, arguments: "" };
          break;
        case "toolCallArguments": {
          const call = toolCalls[event.value.index];
          if (call !== undefined) call.arguments += event.value.fragment;
          break;
        }
        case "finished":
          if (event.value.usage !== undefined) end = { finishReason: event.value.reason, usage: event.value.usage };
          break;
      }
    }
  }
  if (end === undefined) throw new ConnectError("the answer broke off", Code.Internal);
  return { reasoning, text, toolCalls, ...end };
}
