// After SGLang's entrypoints/openai/{serving_chat,protocol}.py of 2026. Deltas contain every field, null or not.
import { reasoningTokens } from "../answer/counts.ts";
import { doneEvent, event, eventStream } from "../answer/sse.ts";
import { readCalls, readText } from "../answer/texts.ts";
import type { Call, Encoder } from "../dialect.ts";
import { toUsage } from "./usage.ts";

const emptyDelta = { role: null, content: null, reasoning_content: null, tool_calls: null };

/** Writes a chat answer like SGLang with a reasoning parser and a tool parser. */
export class ChatEncoder implements Encoder {
  readonly contentType = eventStream;
  readonly #call: Call;
  readonly #head: object;
  readonly #created: number;
  #reasoning = 0;
  #calls = -1;

  constructor(call: Call) {
    this.#call = call;
    this.#created = Math.floor(call.startedAt / 1000);
    this.#head = { id: call.id, object: "chat.completion.chunk", created: this.#created, model: call.model.traits.id };
  }

  open(): string {
    return this.#chunk({ role: "assistant", content: "" });
  }

  token(at: number): string {
    const { request, run } = this.#call;
    if (run.output.kinds[at] === "reasoning") {
      this.#reasoning++;
    }
    const delta = this.#delta(at);
    if (delta === undefined) {
      return "";
    }
    return this.#chunk(delta, request.continuousUsage ? toUsage(this.#call, at + 1, this.#reasoning) : null);
  }

  close(): string {
    const { request, run } = this.#call;
    const { finish, length } = run.output;
    const end = this.#chunk({}, null, finish, this.#matchedStop());
    const usage = request.includeUsage ? toUsage(this.#call, length, this.#reasoning) : undefined;
    const counted = usage === undefined ? "" : event({ ...this.#head, choices: [], usage });
    return end + counted + doneEvent(this.#call);
  }

  gathered(): unknown {
    const call = this.#call;
    const { output } = call.run;
    const calls = readCalls(call).map((made, index) => ({ ...made, index }));
    const message = {
      role: "assistant",
      content: readText(call, "text"),
      reasoning_content: readText(call, "reasoning") || null,
      tool_calls: calls.length > 0 ? calls : null,
    };
    return {
      id: call.id,
      object: "chat.completion",
      created: this.#created,
      model: call.model.traits.id,
      choices: [{ index: 0, message, logprobs: null, finish_reason: output.finish, matched_stop: this.#matchedStop() }],
      usage: toUsage(call, output.length, reasoningTokens(call)),
      metadata: { weight_version: "default" },
    };
  }

  #chunk(
    delta: object,
    usage: unknown = null,
    finish: string | null = null,
    stop: string | number | null = null,
  ): string {
    const choice = {
      index: 0,
      delta: { ...emptyDelta, ...delta },
      logprobs: null,
      finish_reason: finish,
      matched_stop: stop,
    };
    return event({ ...this.#head, choices: [choice], usage });
  }

  #delta(at: number): object | undefined {
    const { kinds, texts, calls } = this.#call.run.output;
    const text = texts[at];
    switch (kinds[at]) {
      case "text":
        return { content: text };
      case "reasoning":
        return { reasoning_content: text };
      case "call": {
        const { id, name } = calls[++this.#calls] ?? {};
        return { tool_calls: [{ id, index: this.#calls, type: "function", function: { name, arguments: "" } }] };
      }
      case "arguments":
        return {
          tool_calls: [{ id: null, index: this.#calls, type: "function", function: { name: null, arguments: text } }],
        };
      default:
        return undefined;
    }
  }

  /** The stop string, or the id of the token that ended the turn. Null: a limit ended it. */
  #matchedStop(): string | number | null {
    const { stopSequence, finish, ids } = this.#call.run.output;
    return stopSequence ?? (finish === "length" ? null : (ids.at(-1) ?? null));
  }
}
