import type { EngineOutput } from "../../interface.ts";
import type { AnswerBuilder } from "../answer/answer-builder.ts";
import type { ToolCallDelta } from "../answer/tool-calls.ts";
import { engineFailed } from "../faults.ts";
import type { Choice, Chunk, Delta } from "./chunk.ts";
import type { ChunkParser } from "./chunk-parser.ts";
import type { Dialect, Fields } from "./dialect.ts";
import { streamFailure } from "./errors.ts";
import { exactCalls } from "./exact-calls.ts";
import { isNoCount, readUsage, type WireUsage } from "./usage.ts";

/** Reads the chunks of a streamed chat completion or completion, whatever carries them. */
export class ChunkReader {
  readonly #where: string;
  readonly #dialect: Dialect;
  readonly #parser: ChunkParser;
  readonly #answer: AnswerBuilder;

  /** `where` names the server for the log. */
  constructor(where: string, dialect: Dialect, parser: ChunkParser, answer: AnswerBuilder) {
    this.#where = where;
    this.#dialect = dialect;
    this.#parser = parser;
    this.#answer = answer;
  }

  /** Whether the answer is complete. What follows does not matter. */
  get complete(): boolean {
    return this.#answer.complete;
  }

  /** Whether the engine goes on beyond the answer's end. */
  get isCut(): boolean {
    return this.#answer.isCut;
  }

  /** The output of the chunks since the last call. Undefined: none yet. */
  take(): EngineOutput | undefined {
    return this.#answer.take();
  }

  /** The stream has ended. Throws unless the answer is complete. */
  end(): void {
    if (!this.complete) {
      this.#answer.conclude();
    }
  }

  /** Takes a chunk's JSON, or the end marker. */
  read(data: string): void {
    if (this.complete) {
      return;
    }
    if (data === "[DONE]") {
      this.#answer.conclude();
    } else {
      this.#readChunk(this.#parse(data), data);
    }
  }

  #readChunk(chunk: Chunk, data: string): void {
    const error = chunk.error || (chunk.object === "error" && chunk);
    if (error) {
      throw streamFailure(this.#where, error);
    }
    this.#answer.touch();
    const choice = chunk.choices?.[0];
    if (choice !== undefined) {
      this.#readChoice(choice, data);
    }
    const wire = chunk.usage ?? this.#dialect.readUsage?.(chunk as Fields);
    if (wire && !this.isCut) {
      this.#readUsage(wire);
    }
  }

  #readUsage(wire: WireUsage): void {
    const usage = readUsage(wire, this.#answer.usage);
    if (usage !== undefined) {
      this.#answer.addUsage(usage);
    } else if (isNoCount(wire)) {
      this.#answer.addNoCount(); // another impossible count is ignored
    }
  }

  #readChoice({ delta, text, finish_reason }: Choice, data: string): void {
    if (delta) {
      this.#readDelta(delta, data);
    }
    if (text) {
      this.#answer.addText(text);
    }
    if (typeof finish_reason === "string") {
      this.#answer.addFinish(finish_reason);
    }
  }

  #readDelta(delta: Delta, data: string): void {
    const { reasoning, reasoning_content, content, tool_calls, function_call } = delta;
    const thought = reasoning || reasoning_content;
    if (thought) {
      this.#answer.addReasoning(thought);
    }
    if (content) {
      this.#answer.addText(content);
    }
    if (!tool_calls && !function_call) {
      return;
    }
    const find = (json: unknown) => listCalls((json as Chunk).choices?.[0]?.delta);
    for (const call of exactCalls(listCalls(delta), data, find)) {
      this.#answer.addCall(call);
    }
  }

  #parse(data: string): Chunk {
    try {
      return this.#parser.parse(data);
    } catch (error) {
      const what = error instanceof TypeError ? `whose ${error.message}` : "that is not JSON";
      throw engineFailed(`${this.#where} sent a chunk ${what}`, true, error);
    }
  }
}

function listCalls(delta: Delta | null | undefined): ToolCallDelta[] {
  const { tool_calls, function_call } = delta ?? {};
  return [...(tool_calls ?? []), ...(function_call ? [{ function: function_call }] : [])];
}
