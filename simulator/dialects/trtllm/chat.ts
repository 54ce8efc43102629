// After TensorRT-LLM's serve/postprocess_handlers.py of 2026: every token has a chunk, with or without text.

import { doneEvent, event, eventStream } from "../answer/sse.ts";
import { readCalls, readText } from "../answer/texts.ts";
import type { Call, Encoder } from "../dialect.ts";
import { toUsage } from "./usage.ts";

/** Writes a chat answer like trtllm-serve. */
export class ChatEncoder implements Encoder {
  readonly contentType = eventStream;
  readonly #call: Call;
  readonly #head: object;
  readonly #created: number;
  #calls = -1;

  constructor(call: Call) {
    this.#call = call;
    this.#created = Math.floor(call.startedAt / 1000);
    this.#head = {
      id: `chatcmpl-${call.id}`,
      object: "chat.completion.chunk",
      created: this.#created,
      model: call.model.traits.id,
    };
  }

  open(): string {
    return this.#chunk({ index: 0, delta: { role: "assistant" } }, 0);
  }

  token(at: number): string {
    const { output } = this.#call.run;
    const last = at === output.length - 1;
    const { stopSequence } = output;
    const choice = {
      index: 0,
      delta: this.#delta(at),
      ...(last && { finish_reason: output.finish, ...(stopSequence !== undefined && { stop_reason: stopSequence }) }),
    };
    return this.#chunk(choice, at + 1);
  }

  close(): string {
    const { request, run } = this.#call;
    const usage = request.includeUsage ? toUsage(this.#call, run.output.length) : undefined;
    const end = doneEvent(this.#call);
    return usage === undefined ? end : event({ ...this.#head, choices: [], usage }) + end;
  }

  gathered(): unknown {
    const call = this.#call;
    const { output } = call.run;
    const message = {
      role: "assistant",
      content: readText(call, "text"),
      reasoning_content: readText(call, "reasoning"),
      reasoning: null,
      tool_calls: readCalls(call),
    };
    const choice = {
      index: 0,
      message,
      logprobs: null,
      finish_reason: output.finish,
      stop_reason: output.stopSequence ?? null,
    };
    return {
      id: `chatcmpl-${call.id}`,
      object: "chat.completion",
      created: this.#created,
      model: call.model.traits.id,
      choices: [choice],
      usage: toUsage(call, output.length),
    };
  }

  #chunk(choice: object, produced: number): string {
    const usage = this.#call.request.continuousUsage ? toUsage(this.#call, produced) : undefined;
    return event({ ...this.#head, choices: [choice], ...(usage && { usage }) });
  }

  #delta(at: number): object {
    const { kinds, texts, calls } = this.#call.run.output;
    const kind = kinds[at];
    const text = texts[at] ?? "";
    const delta = { content: kind === "text" ? text : "", reasoning_content: kind === "reasoning" ? text : "" };
    if (kind === "call") {
      const { id, name } = calls[++this.#calls] ?? {};
      return {
        ...delta,
        tool_calls: [{ id, index: this.#calls, type: "function", function: { name, arguments: "" } }],
      };
    }
    if (kind !== "arguments") {
      return delta;
    }
    return { ...delta, tool_calls: [{ index: this.#calls, type: "function", function: { arguments: text } }] };
  }
}
