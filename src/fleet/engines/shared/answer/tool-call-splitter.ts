import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { parseExactJson } from "#lib/text/json/exact.ts";
import { textEvent } from "./events.ts";
import { partialTag } from "./think-splitter.ts";
import type { ToolCalls } from "./tool-calls.ts";

const open = "<tool_call>";
const close = "</tool_call>";

/** Matches a call that was cut off, and reads its name and the beginning of its arguments. */
const begun = /^\s*\{\s*"name"\s*:\s*"((?:[^"\\]|\\.)*)"\s*,\s*"(?:arguments|parameters)"\s*:\s*(\{[\s\S]*)$/;

/**
 * Takes `<tool_call>{"name": …, "arguments": …}</tool_call>` blocks, as Hermes and Qwen models write them, out of a
 * text that comes in pieces. Text that is not a call stays text.
 */
export class ToolCallSplitter {
  readonly #calls: ToolCalls;
  #inside: boolean;
  #held = "";
  /** The inside of a block that has not ended, without the held text. */
  #block: string[] = [];
  #count = 0;
  /** Only white space, which is dropped, came since the last call. */
  #trimming = false;

  /** `inside`: the prompt has opened the first block. */
  constructor(calls: ToolCalls, inside: boolean) {
    this.#calls = calls;
    this.#inside = inside;
  }

  /** The number of complete calls. */
  get count(): number {
    return this.#count;
  }

  /** Takes the next piece and adds the events that it completes. */
  push(piece: string, events: GenerationEvent[]): void {
    this.#held += piece;
    for (;;) {
      const tag = this.#inside ? close : open;
      const at = this.#held.indexOf(tag);
      if (at === -1) {
        break;
      }
      const before = this.#held.slice(0, at);
      this.#held = this.#held.slice(at + tag.length);
      if (this.#inside) {
        this.#call(this.#take(before), close, events);
      } else {
        this.#show(before, events);
      }
      this.#inside = !this.#inside;
    }
    const kept = partialTag(this.#held, this.#inside ? close : open);
    const settled = this.#held.slice(0, this.#held.length - kept);
    this.#held = this.#held.slice(this.#held.length - kept);
    if (this.#inside) {
      this.#block.push(settled);
    } else {
      this.#show(settled, events);
    }
  }

  /** The text has ended. */
  end(events: GenerationEvent[]): void {
    const held = this.#held;
    this.#held = "";
    if (this.#inside) {
      this.#call(this.#take(held), "", events);
    } else {
      this.#show(held, events);
    }
    this.#calls.end(events);
  }

  /** The complete inside of a block, given its last part. */
  #take(last: string): string {
    const text = this.#block.join("") + last;
    this.#block = [];
    return text;
  }

  #call(text: string, closing: string, events: GenerationEvent[]): void {
    const call = callIn(text);
    if (call === undefined) {
      this.#show(open + text + closing, events);
      return;
    }
    this.#calls.push({ index: this.#count++, function: call }, events);
    this.#trimming = true;
  }

  #show(raw: string, events: GenerationEvent[]): void {
    const text = this.#trimming ? raw.trimStart() : raw;
    if (text === "") {
      return;
    }
    this.#trimming = false;
    events.push(textEvent(text));
  }
}

/** A call as models write it. They differ in the name of the arguments. */
interface Written {
  readonly name?: unknown;
  readonly arguments?: string | object | null;
  readonly parameters?: string | object | null;
}

function callIn(text: string): { readonly name: string; readonly arguments: string | object } | undefined {
  try {
    const call = parseExactJson(text) as Written | null;
    if (typeof call?.name !== "string") {
      return undefined;
    }
    return { name: call.name, arguments: call.arguments ?? call.parameters ?? {} };
  } catch {
    const [, name, beginning] = begun.exec(text) ?? [];
    return name === undefined || beginning === undefined ? undefined : { name, arguments: beginning };
  }
}
