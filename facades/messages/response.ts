import type { GenerationEvent } from "#gen/inference/v1/generation_event_pb.js";
import type { ContentBlock, Message } from "#gen/messages/v1/message_pb.js";
import { messageId, SIGNATURE } from "./identity.ts";
import { stopReason } from "./stop-reason.ts";
import { inputUsage, usage } from "./usage.ts";

/** Gathers the events of one answer into this surface's message: thinking, then text, then tool calls. */
export class MessageBuilder {
  readonly #message: Message;
  readonly #calls = new Map<number, { id: string; name: string; input: string }>();
  #thinking = "";
  #text = "";

  constructor(model: string) {
    this.#message = {
      $typeName: "messages.v1.Message",
      id: "",
      type: "message",
      role: "assistant",
      model,
      content: [],
      usage: inputUsage(0),
    };
  }

  /** Takes the next events. */
  add(events: readonly GenerationEvent[]): void {
    for (const { event } of events) {
      switch (event.case) {
        case "started":
          this.#message.id = messageId(event.value.requestId);
          break;
        case "reasoning":
          this.#thinking += event.value;
          break;
        case "text":
          this.#text += event.value;
          break;
        case "toolCallStarted":
          this.#calls.set(event.value.index, { id: event.value.id, name: event.value.name, input: "" });
          break;
        case "toolCallArguments": {
          const call = this.#calls.get(event.value.index);
          if (call !== undefined) call.input += event.value.fragment;
          break;
        }
        case "finished":
          this.#message.stopReason = stopReason(event.value.reason);
          this.#message.usage = usage(event.value.usage);
          break;
        case undefined: // an event of a newer core
      }
    }
  }

  /** The whole message, once its last event was taken. */
  build(): Message {
    return { ...this.#message, content: [...this.#blocks()] };
  }

  *#blocks(): Generator<ContentBlock> {
    if (this.#thinking !== "") {
      yield block({
        case: "thinking",
        value: { $typeName: "messages.v1.ThinkingBlock", thinking: this.#thinking, signature: SIGNATURE },
      });
    }
    if (this.#text !== "") {
      yield block({ case: "text", value: { $typeName: "messages.v1.TextBlock", text: this.#text } });
    }
    for (const { id, name, input } of this.#calls.values()) {
      yield block({
        case: "toolUse",
        value: { $typeName: "messages.v1.ToolUseBlock", id, name, input: asObject(input) },
      });
    }
  }
}

function block(value: ContentBlock["block"]): ContentBlock {
  return { $typeName: "messages.v1.ContentBlock", block: value };
}

/** The arguments where they are an object; else an empty one: clients expect an object, whatever the model wrote. */
function asObject(input: string): string {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? input : "{}";
  } catch {
    return "{}"; // none, cut short by the output limit, or the model's mistake
  }
}
