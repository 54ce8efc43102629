import type { FinishReason, GenerationEvent } from "#gen/inference/v1/generation_event_pb.js";
import { reasoningEvent, textEvent } from "../answer/events.ts";
import { finishReason } from "../answer/finish-reason.ts";
import type { ThinkSplitter } from "../answer/think-splitter.ts";
import { type ToolCallDelta, ToolCalls } from "../answer/tool-calls.ts";
import { engineFailed } from "../faults.ts";
import type { HttpResponse } from "../http/connection.ts";
import { SseParser } from "../http/sse-parser.ts";
import type { StreamReader } from "../http/stream.ts";
import type { EngineOutput, EngineRequest, EngineUsage } from "../interface.ts";
import type { Dialect, Fields } from "./dialect.ts";
import { refusalOf, streamFailure } from "./errors.ts";
import { readUsage, type WireUsage } from "./usage.ts";

/** The parts of a streamed chunk that are read. */
interface Chunk {
  readonly error?: unknown;
  readonly usage?: WireUsage | null;
  readonly choices?: readonly Choice[];
}

interface Choice {
  readonly delta?: Delta | null;
  /** Of `/v1/completions`. */
  readonly text?: string | null;
  readonly finish_reason?: string | null;
}

interface Delta {
  readonly content?: string | null;
  readonly reasoning?: string | null;
  readonly reasoning_content?: string | null;
  readonly tool_calls?: readonly ToolCallDelta[] | null;
  readonly function_call?: ToolCallDelta["function"];
}

/** Reads the chunks of a streamed chat completion or completion. */
export class ChunkReader implements StreamReader {
  complete = false;
  readonly #where: string;
  readonly #dialect: Dialect;
  readonly #splitter: ThinkSplitter | undefined;
  readonly #onReasoning: () => void;
  readonly #sse = new SseParser((data) => this.#read(data));
  readonly #toolCalls: ToolCalls;
  #events: GenerationEvent[] = [];
  #usage: EngineUsage | undefined;
  #finish: FinishReason | undefined;
  /** Whether the count is that of the whole answer. */
  #counted = false;
  #answered = false;
  #reasoned = false;
  /** Whether something was read since the last output. */
  #fresh = false;

  /**
   * `where` names the server for the log. Without a splitter all text is the answer. `onReasoning` is told
   * when the engine sends reasoning apart from the text.
   */
  constructor(
    where: string,
    request: EngineRequest,
    dialect: Dialect,
    splitter: ThinkSplitter | undefined,
    onReasoning: () => void,
  ) {
    this.#where = where;
    this.#dialect = dialect;
    this.#splitter = splitter;
    this.#onReasoning = onReasoning;
    this.#toolCalls = new ToolCalls(request.requestId);
  }

  push(piece: Buffer): void {
    this.#sse.push(piece);
  }

  take(): EngineOutput | undefined {
    if (!this.#fresh) return undefined;
    this.#fresh = false;
    const events = this.#events;
    this.#events = [];
    this.#answered ||= events.length > 0;
    return {
      events,
      ...(this.#usage !== undefined && { usage: this.#usage }),
      ...(this.complete && this.#finish !== undefined && { finish: this.#finish }),
    };
  }

  end(): void {
    this.#sse.end();
    if (!this.complete) this.#conclude(); // some engines leave out the closing [DONE]
  }

  refusal(response: HttpResponse): Error {
    return refusalOf(this.#where, response);
  }

  #read(data: string): void {
    if (this.complete) return;
    if (data === "[DONE]") this.#conclude();
    else this.#readChunk(this.#parse(data));
  }

  #readChunk(chunk: Chunk): void {
    if (chunk.error) throw streamFailure(this.#where, chunk.error);
    this.#fresh = true;
    const choice = chunk.choices?.[0];
    if (choice !== undefined) this.#readChoice(choice);
    const usage = chunk.usage ?? this.#dialect.readUsage?.(chunk as Fields);
    if (usage) this.#readUsage(usage);
  }

  /** A count that cannot be true is passed over: the one before it holds, or there is none. */
  #readUsage(wire: WireUsage): void {
    const usage = readUsage(wire, this.#usage);
    if (usage === undefined) return;
    this.#usage = usage;
    const answered = this.#answered || this.#events.length > 0;
    if (this.#finish !== undefined) this.#counted = usage.outputTokens > 0 || !answered;
  }

  #readChoice(choice: Choice): void {
    const { delta } = choice;
    if (delta) {
      const reasoning = delta.reasoning || delta.reasoning_content;
      if (reasoning) this.#readReasoning(reasoning);
      if (delta.content) this.#readText(delta.content);
      if (delta.tool_calls) for (const call of delta.tool_calls) this.#readCall(call);
      if (delta.function_call) this.#readCall({ function: delta.function_call });
    }
    if (choice.text) this.#readText(choice.text);
    if (typeof choice.finish_reason === "string") this.#readFinish(choice.finish_reason);
  }

  #readReasoning(reasoning: string): void {
    if (!this.#reasoned) {
      this.#reasoned = true;
      this.#splitter?.startAnswer();
      this.#onReasoning();
    }
    this.#events.push(reasoningEvent(reasoning));
  }

  #readText(text: string): void {
    if (this.#splitter === undefined || this.#reasoned) this.#events.push(textEvent(text));
    else this.#splitter.push(text, this.#events);
  }

  #readCall(call: ToolCallDelta): void {
    this.#splitter?.end(this.#events);
    this.#toolCalls.push(call, this.#events);
  }

  #readFinish(reason: string): void {
    this.#splitter?.end(this.#events);
    this.#toolCalls.end(this.#events);
    this.#finish = finishReason(reason, this.#toolCalls.any);
    if (this.#finish === undefined) throw engineFailed(`${this.#where} broke off: finish reason ${reason}`, true);
  }

  /** The end of the stream: an answer is complete when its finish and its count came. */
  #conclude(): void {
    if (this.#finish === undefined) throw engineFailed(`${this.#where} ended the stream without a finish reason`, true);
    if (!this.#counted) throw engineFailed(`${this.#where} did not count the tokens`, false);
    this.#fresh = true;
    this.complete = true;
  }

  #parse(data: string): Chunk {
    try {
      return JSON.parse(data);
    } catch (error) {
      throw engineFailed(`${this.#where} sent a chunk that is not JSON`, true, error);
    }
  }
}
