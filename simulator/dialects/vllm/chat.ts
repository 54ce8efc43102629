// After vLLM's entrypoints/openai/chat_completion/{serving,protocol}.py of 2026.
import { readCounts } from "../answer/counts.ts";
import { DeltaWriter } from "../answer/delta-writer.ts";
import { doneEvent, eventStream } from "../answer/sse.ts";
import { readCalls, readText } from "../answer/texts.ts";
import type { Call, Encoder } from "../dialect.ts";
import { runningUsage, toUsage } from "./usage.ts";

/** Writes a chat answer like vLLM with a reasoning parser and a tool parser. */
export class ChatEncoder implements Encoder {
  readonly contentType = eventStream;
  readonly #call: Call;
  readonly #deltas: DeltaWriter;
  readonly #head: string;
  readonly #created: number;
  #reasoning = 0;

  constructor(call: Call) {
    this.#call = call;
    this.#created = Math.floor(call.startedAt / 1000);
    this.#deltas = new DeltaWriter(call.run.output, "reasoning");
    const model = JSON.stringify(call.model.traits.id);
    this.#head = `data: {"id":${JSON.stringify(`chatcmpl-${call.id}`)},"object":"chat.completion.chunk","created":${this.#created},"model":${model},"choices":[`;
  }

  open(): string {
    const { request, run } = this.#call;
    const ids = request.returnTokenIds ? JSON.stringify(run.sequence.work.prompt) : "null";
    const choice = '{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}';
    return `${this.#head}${choice}]${this.#usage(0)},"prompt_token_ids":${ids},"prompt_text":null}\n\n`;
  }

  token(at: number): string {
    const { request, run } = this.#call;
    const { output } = run;
    if (output.kinds[at] === "reasoning") {
      this.#reasoning++;
    }
    const last = at === output.length - 1;
    const delta = this.#deltas.write(at);
    // While a parser holds tokens back, vLLM sends nothing, unless token ids were requested.
    if (delta === undefined && !last && !request.returnTokenIds) {
      return "";
    }
    const stop = JSON.stringify(output.stopSequence ?? null);
    const finish = last ? `"${this.#finish()}","stop_reason":${stop}` : "null";
    const ids = request.returnTokenIds ? `[${output.ids[at]}]` : "null";
    const choice = `{"index":0,"delta":${delta ?? "{}"},"logprobs":null,"finish_reason":${finish},"token_ids":${ids}}`;
    return `${this.#head}${choice}]${this.#usage(at + 1)}}\n\n`;
  }

  close(): string {
    const { request, run } = this.#call;
    const usage = request.includeUsage ? toUsage(this.#call, run.output.length) : undefined;
    const end = doneEvent(this.#call);
    return usage === undefined ? end : `${this.#head}],"usage":${JSON.stringify(usage)}}\n\n${end}`;
  }

  gathered(): unknown {
    const call = this.#call;
    const { id, model, request, run } = call;
    const calls = readCalls(call);
    const content = readText(call, "text");
    const message = {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      ...(calls.length > 0 && { tool_calls: calls }),
      reasoning: readText(call, "reasoning") || null,
    };
    const choice = {
      index: 0,
      message,
      logprobs: null,
      finish_reason: this.#finish(),
      stop_reason: run.output.stopSequence ?? null,
      token_ids: request.returnTokenIds ? run.output.ids : null,
    };
    return {
      id: `chatcmpl-${id}`,
      object: "chat.completion",
      created: this.#created,
      model: model.traits.id,
      choices: [choice],
      service_tier: null,
      system_fingerprint: null,
      usage: toUsage(call, run.output.length),
      prompt_logprobs: null,
      prompt_token_ids: request.returnTokenIds ? run.sequence.work.prompt : null,
      kv_transfer_params: null,
    };
  }

  /** The finish reason. In vLLM, a call of a tool demanded by name does not count as "tool_calls". */
  #finish(): string {
    const { namedTool, run } = this.#call;
    return run.output.finish === "tool_calls" && namedTool ? "stop" : run.output.finish;
  }

  #usage(produced: number): string {
    const counts = this.#call.request.continuousUsage ? readCounts(this.#call, produced) : undefined;
    return counts === undefined ? "" : runningUsage(this.#call, counts, this.#reasoning);
  }
}
