// After llama.cpp's tools/server/server-task.cpp of 2026.
import { DeltaWriter } from "../answer/delta-writer.ts";
import { doneEvent, event, eventStream } from "../answer/sse.ts";
import { readCalls, readText } from "../answer/texts.ts";
import type { Call, Encoder } from "../dialect.ts";
import { toTimings, toUsage } from "./usage.ts";

/** The name of llama-server's build. */
export const buildInfo = "b9000-simulated";

/** Writes a chat answer like llama-server. */
export class ChatEncoder implements Encoder {
  readonly contentType = eventStream;
  readonly #call: Call;
  readonly #deltas: DeltaWriter;
  readonly #fields: object;
  readonly #tail: string;

  constructor(call: Call) {
    const id = `chatcmpl-${call.id}`;
    const created = Math.floor(call.startedAt / 1000);
    this.#call = call;
    this.#deltas = new DeltaWriter(call.run.output, "reasoning_content");
    this.#fields = { created, id, model: call.model.traits.id, system_fingerprint: buildInfo };
    const chunk = { ...this.#fields, object: "chat.completion.chunk" };
    this.#tail = JSON.stringify(chunk).slice(1, -1);
  }

  open(): string {
    return this.#chunk('{"role":"assistant","content":null}', null, undefined);
  }

  token(at: number): string {
    const delta = this.#deltas.write(at);
    if (delta === undefined) {
      return "";
    }
    return this.#chunk(delta, null, this.#call.request.timings ? toTimings(this.#call, at + 1) : undefined);
  }

  close(): string {
    const { request, run } = this.#call;
    const { finish, length } = run.output;
    const usage = request.includeUsage ? toUsage(this.#call, length) : undefined;
    const timings = toTimings(this.#call, length);
    const end = doneEvent(this.#call);
    if (usage === undefined) {
      return this.#chunk("{}", finish, timings) + end;
    }
    const counted = { choices: [], ...this.#fields, object: "chat.completion.chunk", usage, timings };
    return this.#chunk("{}", finish, undefined) + event(counted) + end;
  }

  gathered(): unknown {
    const call = this.#call;
    const { output } = call.run;
    const calls = readCalls(call);
    const reasoning = readText(call, "reasoning");
    const message = {
      role: "assistant",
      content: readText(call, "text") || (calls.length > 0 ? null : ""),
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return {
      choices: [{ finish_reason: output.finish, index: 0, message }],
      ...this.#fields,
      object: "chat.completion",
      usage: toUsage(call, output.length),
      timings: toTimings(call, output.length),
    };
  }

  #chunk(delta: string, finish: string | null, timings: object | undefined): string {
    const timed = timings === undefined ? "" : `,"timings":${JSON.stringify(timings)}`;
    const choice = `{"finish_reason":${JSON.stringify(finish)},"index":0,"delta":${delta}}`;
    return `data: {"choices":[${choice}],${this.#tail}${timed}}\n\n`;
  }
}
