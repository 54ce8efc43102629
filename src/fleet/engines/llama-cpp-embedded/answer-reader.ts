import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { EngineRequest } from "../interface.ts";
import { textEvent } from "../shared/answer/events.ts";
import { splitterFor } from "../shared/answer/splitter-for.ts";
import type { ThinkSplitter } from "../shared/answer/think-splitter.ts";
import { ToolCallSplitter } from "../shared/answer/tool-call-splitter.ts";
import { ToolCalls } from "../shared/answer/tool-calls.ts";
import { offeredTools } from "./tools.ts";

/** Splits what a model writes into thinking, text and tool calls. One for each request. */
export class AnswerReader {
  readonly #thinking: ThinkSplitter | undefined;
  readonly #calls: ToolCalls;
  readonly #tools: ToolCallSplitter | undefined;
  readonly #one: boolean;

  /** `demanded`: the answer is a tool call, whose block the prompt has opened. */
  constructor(request: EngineRequest, demanded: boolean) {
    const { prompt, runId } = request;
    const conversation = prompt.case === "conversation" ? prompt.value : undefined;
    this.#calls = new ToolCalls(runId);
    this.#thinking = demanded ? undefined : splitterFor(request, false);
    if (conversation && offeredTools(conversation).length > 0) {
      this.#tools = new ToolCallSplitter(this.#calls, demanded);
    }
    this.#one = conversation?.parallelToolCalls === false;
  }

  /** Whether the answer is complete although the model might go on. */
  get complete(): boolean {
    return this.#one && (this.#tools?.count ?? 0) > 0;
  }

  /** Whether the model called a tool. */
  get called(): boolean {
    return this.#calls.any;
  }

  push(piece: string, events: GenerationEvent[]): void {
    if (piece === "" || this.complete) {
      return;
    }
    const thought: GenerationEvent[] = [];
    if (this.#thinking === undefined) {
      thought.push(textEvent(piece));
    } else {
      this.#thinking.push(piece, thought);
    }
    this.#split(thought, events);
  }

  end(events: GenerationEvent[]): void {
    const thought: GenerationEvent[] = [];
    this.#thinking?.end(thought);
    this.#split(thought, events);
    this.#tools?.end(events);
  }

  /** Looks for tool calls in the answer, not in the thinking. */
  #split(thought: readonly GenerationEvent[], events: GenerationEvent[]): void {
    for (const one of thought) {
      if (this.#tools !== undefined && one.event.case === "text") {
        this.#tools.push(one.event.value, events);
      } else {
        events.push(one);
      }
    }
  }
}
