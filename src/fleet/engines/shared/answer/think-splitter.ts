import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { reasoningEvent, textEvent } from "./events.ts";

const openTag = "<think>";
const closeTag = "</think>";

/**
 * What the engine's text starts with: the answer, the inside of a thinking block that the prompt's template has opened,
 * or the continuation of the caller's text. In a continuation, leading white space counts.
 */
export type TextStart = "answer" | "thinking" | "continuation";

/**
 * Takes `<think>…</think>` blocks out of an answer whose engine left them in the text. The text comes in pieces that
 * may end anywhere, even within a tag; a possible beginning of a tag is held back.
 *
 * A block opens only at the start of the answer or of a line, so that an answer about the tag itself (`"<think>"` in a
 * program) stays intact. White space next to the tags belongs to them.
 */
export class ThinkSplitter {
  #thinking: boolean;
  #held = "";
  /** Only white space came since the start or the last line end. */
  #lineStart = true;
  /** Only white space, which is dropped, came since the start or the last tag. */
  #trimming: boolean;

  constructor(start: TextStart) {
    this.#thinking = start === "thinking";
    this.#trimming = start !== "continuation";
  }

  /** Takes the next piece and adds the events that it completes. */
  push(piece: string, events: GenerationEvent[]): void {
    let rest = this.#held + piece;
    this.#held = "";
    while (rest !== "") {
      rest = this.#thinking ? this.#think(rest, events) : this.#answer(rest, events);
    }
  }

  /** The engine sends reasoning in a separate field: its text is the answer. */
  startAnswer(): void {
    this.#thinking = false;
  }

  /** The answer is over: the held text is not a tag. */
  end(events: GenerationEvent[]): void {
    this.#emit(this.#held, events);
    this.#held = "";
  }

  #think(rest: string, events: GenerationEvent[]): string {
    if (this.#trimming) {
      // A model may open the block although the template has opened it already.
      const text = rest.trimStart();
      if (text.startsWith(openTag)) {
        return text.slice(openTag.length);
      }
      if (openTag.startsWith(text)) {
        return this.#hold(text);
      }
    }
    const close = rest.indexOf(closeTag);
    if (close === -1) {
      return this.#emitAllBut(partialTag(rest, closeTag), rest, events);
    }
    this.#emit(rest.slice(0, close), events);
    this.#thinking = false;
    this.#trimming = true;
    this.#lineStart = true;
    return rest.slice(close + closeTag.length);
  }

  #answer(rest: string, events: GenerationEvent[]): string {
    const open = this.#findOpening(rest);
    if (open === -1) {
      const partial = partialTag(rest, openTag);
      const opens = partial > 0 && startsLine(rest, rest.length - partial, this.#lineStart);
      return this.#emitAllBut(opens ? partial : 0, rest, events);
    }
    this.#emit(rest.slice(0, open), events);
    this.#thinking = true;
    this.#trimming = true;
    return rest.slice(open + openTag.length);
  }

  #findOpening(text: string): number {
    for (let at = text.indexOf(openTag); at !== -1; at = text.indexOf(openTag, at + 1)) {
      if (startsLine(text, at, this.#lineStart)) {
        return at;
      }
    }
    return -1;
  }

  #emitAllBut(held: number, rest: string, events: GenerationEvent[]): string {
    this.#emit(rest.slice(0, rest.length - held), events);
    return this.#hold(rest.slice(rest.length - held));
  }

  #hold(text: string): string {
    this.#held = text;
    return "";
  }

  #emit(raw: string, events: GenerationEvent[]): void {
    const text = this.#trimming ? raw.trimStart() : raw;
    if (text === "") {
      return;
    }
    this.#trimming = false;
    if (this.#thinking) {
      events.push(reasoningEvent(text));
    } else {
      this.#lineStart = startsLine(text, text.length, this.#lineStart);
      events.push(textEvent(text));
    }
  }
}

/** Whether only white space stands between a position and the start of its line. */
function startsLine(text: string, at: number, lineStart: boolean): boolean {
  for (let i = at - 1; i >= 0; i--) {
    const character = text[i];
    if (character === "\n") {
      return true;
    }
    if (character !== " " && character !== "\t" && character !== "\r") {
      return false;
    }
  }
  return lineStart;
}

/** How many characters at the end may be the beginning of a tag. */
export function partialTag(text: string, tag: string): number {
  const at = text.lastIndexOf("<");
  return at !== -1 && tag.startsWith(text.slice(at)) ? text.length - at : 0;
}
