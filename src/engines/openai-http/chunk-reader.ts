import type { AnswerBuilder } from "../answer/answer-builder.ts";
import type { ToolCallDelta } from "../answer/tool-calls.ts";
import { engineFailed } from "../faults.ts";
import type { EngineOutput } from "../interface.ts";
import type { Dialect, Fields } from "./dialect.ts";
import { streamFailure } from "./errors.ts";
import { readUsage, type WireUsage } from "./usage.ts";

/** The parts of a streamed chunk that are read. */
interface Chunk {
  readonly error?: unknown;
  /** "error" where the chunk itself is one. */
  readonly object?: string;
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

/** Reads the chunks of a streamed chat completion or completion, however they come. */
export class ChunkReader {
  readonly #where: string;
  readonly #dialect: Dialect;
  readonly #answer: AnswerBuilder;

  /** `where` names the server for the log. */
  constructor(where: string, dialect: Dialect, answer: AnswerBuilder) {
    this.#where = where;
    this.#dialect = dialect;
    this.#answer = answer;
  }

  /** Whether the answer is complete; what follows does not matter. */
  get complete(): boolean {
    return this.#answer.complete;
  }

  /** What became of the chunks since the last call. Undefined: nothing yet. */
  take(): EngineOutput | undefined {
    return this.#answer.take();
  }

  /** No more comes. Throws unless the answer is complete. */
  end(): void {
    if (!this.complete) this.#answer.conclude();
  }

  /** Takes a chunk's JSON, or the mark of the end. */
  read(data: string): void {
    if (this.complete) return;
    if (data === "[DONE]") this.#answer.conclude();
    else this.#readChunk(this.#parse(data));
  }

  #readChunk(chunk: Chunk): void {
    const error = chunk.error || (chunk.object === "error" && chunk);
    if (error) throw streamFailure(this.#where, error);
    this.#answer.touch();
    const choice = chunk.choices?.[0];
    if (choice !== undefined) this.#readChoice(choice);
    const wire = chunk.usage ?? this.#dialect.readUsage?.(chunk as Fields);
    const usage = wire && readUsage(wire, this.#answer.usage);
    if (usage) this.#answer.addUsage(usage); // one that cannot be true is passed over
  }

  #readChoice({ delta, text, finish_reason }: Choice): void {
    if (delta) this.#readDelta(delta);
    if (text) this.#answer.addText(text);
    if (typeof finish_reason === "string") this.#answer.addFinish(finish_reason);
  }

  #readDelta({ reasoning, reasoning_content, content, tool_calls, function_call }: Delta): void {
    const thought = reasoning || reasoning_content;
    if (thought) this.#answer.addReasoning(thought);
    if (content) this.#answer.addText(content);
    if (tool_calls) for (const call of tool_calls) this.#answer.addCall(call);
    if (function_call) this.#answer.addCall({ function: function_call });
  }

  #parse(data: string): Chunk {
    try {
      return JSON.parse(data);
    } catch (error) {
      throw engineFailed(`${this.#where} sent a chunk that is not JSON`, true, error);
    }
  }
}
