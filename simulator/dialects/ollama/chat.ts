// After Ollama's openai/openai.go and middleware/openai.go of August 2026.

import { doneEvent, event } from "../answer/sse.ts";
import { readText } from "../answer/texts.ts";
import type { Call, Encoder } from "../dialect.ts";
import { completeCalls, PartReader } from "./parts.ts";
import { toUsage } from "./usage.ts";

/** Writes a chat answer like Ollama's `/v1/chat/completions`. */
export class ChatEncoder implements Encoder {
  readonly contentType = "text/event-stream";
  readonly #call: Call;
  readonly #parts: PartReader;
  readonly #head: object;
  #begun = false;

  constructor(call: Call) {
    this.#call = call;
    this.#parts = new PartReader(call.run.output);
    this.#head = {
      id: `chatcmpl-${call.id}`,
      created: Math.floor(call.startedAt / 1000),
      model: call.model.traits.id,
      system_fingerprint: "fp_ollama",
    };
  }

  open(): string {
    return "";
  }

  token(at: number): string {
    const part = this.#parts.read(at);
    if (part === undefined) {
      return "";
    }
    const role = this.#begun ? {} : { role: "assistant" };
    this.#begun = true;
    const calls = part.call === undefined ? [] : [{ index: part.call, ...completeCalls(this.#call)[part.call] }];
    const delta = {
      ...role,
      content: part.content,
      ...(part.thinking !== "" && { reasoning: part.thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return this.#chunk([{ index: 0, delta, finish_reason: null }]);
  }

  close(): string {
    const { request, run } = this.#call;
    const usage = request.includeUsage ? toUsage(this.#call, run.output.length) : undefined;
    const end = this.#chunk([{ index: 0, delta: {}, finish_reason: run.output.finish }]);
    return end + (usage === undefined ? "" : this.#chunk([], { usage })) + doneEvent(this.#call);
  }

  gathered(): unknown {
    const call = this.#call;
    const calls = completeCalls(call);
    const reasoning = readText(call, "reasoning");
    const message = {
      role: "assistant",
      content: readText(call, "text"),
      ...(reasoning !== "" && { reasoning }),
      ...(calls.length > 0 && { tool_calls: calls.map((made, index) => ({ index, ...made })) }),
    };
    return {
      ...this.#head,
      object: "chat.completion",
      choices: [{ index: 0, message, finish_reason: call.run.output.finish }],
      usage: toUsage(call, call.run.output.length),
    };
  }

  #chunk(choices: readonly object[], more: object = {}): string {
    return event({ ...this.#head, object: "chat.completion.chunk", choices, ...more });
  }
}
