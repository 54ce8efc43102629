import { DeltaWriter } from "../answer/delta-writer.ts";
import { doneEvent, event, eventStream } from "../answer/sse.ts";
import { readCalls, readText } from "../answer/texts.ts";
import type { Call, Encoder } from "../dialect.ts";
import { toUsage } from "./usage.ts";

/** How servers of the plain API differ. */
export interface ChatStyle {
  /** Usage comes in the chunk with the finish reason, requested or not, instead of in a separate chunk. */
  readonly usageOnFinish: boolean;
  /** Whether the stream ends with `[DONE]`. */
  readonly done: boolean;
}

/** Writes a chat answer as OpenAI's API defines it, with thinking in `reasoning_content`. */
export class ChatEncoder implements Encoder {
  readonly contentType = eventStream;
  readonly #call: Call;
  readonly #style: ChatStyle;
  readonly #deltas: DeltaWriter;
  readonly #fields: object;
  readonly #head: string;
  readonly #tail: string;

  constructor(call: Call, style: ChatStyle) {
    this.#call = call;
    this.#style = style;
    this.#deltas = new DeltaWriter(call.run.output, "reasoning_content");
    this.#fields = {
      id: `chatcmpl-${call.id}`,
      created: Math.floor(call.startedAt / 1000),
      model: call.model.traits.id,
      system_fingerprint: "fp_simulated",
    };
    const head = JSON.stringify({ ...this.#fields, object: "chat.completion.chunk" }).slice(0, -1);
    this.#head = `data: ${head},"choices":[`;
    // When usage is requested, every chunk has the field. It is null in all but the last.
    this.#tail = call.request.includeUsage && !style.usageOnFinish ? ',"usage":null}\n\n' : "}\n\n";
  }

  open(): string {
    return this.#chunk('{"role":"assistant","content":""}', null);
  }

  token(at: number): string {
    const delta = this.#deltas.write(at);
    return delta === undefined ? "" : this.#chunk(delta, null);
  }

  close(): string {
    const { request, run } = this.#call;
    const { finish, length } = run.output;
    const usage = toUsage(this.#call, length);
    const end = this.#style.done ? doneEvent(this.#call) : "";
    if (this.#style.usageOnFinish) {
      const counted = usage === undefined ? "" : `,"usage":${JSON.stringify(usage)}`;
      return `${this.#head}${choice("{}", finish)}]${counted}}\n\n${end}`;
    }
    const counted =
      request.includeUsage && usage !== undefined
        ? event({ ...this.#fields, object: "chat.completion.chunk", choices: [], usage })
        : "";
    return this.#chunk("{}", finish) + counted + end;
  }

  gathered(): unknown {
    const call = this.#call;
    const { output } = call.run;
    const calls = readCalls(call);
    const reasoning = readText(call, "reasoning");
    const message = {
      role: "assistant",
      content: readText(call, "text") || (calls.length > 0 ? null : ""),
      refusal: null,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return {
      ...this.#fields,
      object: "chat.completion",
      choices: [{ index: 0, message, logprobs: null, finish_reason: output.finish }],
      usage: toUsage(call, output.length),
    };
  }

  #chunk(delta: string, finish: string | null): string {
    return `${this.#head}${choice(delta, finish)}]${this.#tail}`;
  }
}

function choice(delta: string, finish: string | null): string {
  return `{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}`;
}
