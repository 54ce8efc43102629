import type { Chunk } from "./chunk.ts";

const textFields = ["content", "reasoning", "reasoning_content"] as const;

/** What differs between two chunks besides the piece of text: whose chunk it is, which nobody reads, and the counts. */
const holes = /(?<=[{,])(?:"id":"[^"\\]*|"(?:created|prompt_tokens|completion_tokens|total_tokens)":\d+)(?=[",}])/g;

type Counts = Record<string, number>;

/** A place of a chunk that differs, and the text that stands before it. */
interface Hole {
  readonly before: string;
  /** The name of a count, or of the field that the text goes to. Empty: nobody reads it. */
  readonly name: string;
  readonly kind: "text" | "digits";
}

/**
 * The form of a chunk. Nearly all chunks of an engine differ from each other in few places, their piece of
 * text and their counts above all: such a chunk is read by comparing the rest, which costs a third of
 * parsing its JSON. Any other one, or one whose text has an escape, is left to the parser.
 */
export class ChunkTemplate {
  readonly #holes: readonly Hole[];
  readonly #end: string;
  readonly #delta: Record<string, unknown>;
  readonly #counts: Counts;
  /** What `read` answers; written anew each time. */
  readonly #chunk: Chunk;

  private constructor(holes: readonly Hole[], end: string, chunk: Chunk) {
    const choice = chunk.choices?.[0];
    this.#holes = holes;
    this.#end = end;
    this.#counts = { ...chunk.usage } as Counts;
    this.#delta = { ...choice?.delta };
    this.#chunk = {
      ...chunk,
      ...(chunk.usage && { usage: this.#counts }),
      ...(choice && { choices: [{ ...choice, delta: this.#delta }] }),
    };
  }

  /** The form of a chunk, given as JSON text and parsed. Undefined: it has one that is not met again, such as a tool call's. */
  static of(data: string, chunk: Chunk): ChunkTemplate | undefined {
    if (!isCommon(chunk)) {
      return undefined;
    }
    const delta = chunk.choices?.[0]?.delta;
    const field = textFields.find((name) => delta?.[name]);
    const text = field && placeOf(data, field, delta?.[field] ?? "");
    if (field && !text) {
      return undefined;
    }

    const found: Hole[] = [];
    let from = 0;
    const add = (name: string, kind: Hole["kind"], at: number, length: number) => {
      found.push({ before: data.slice(from, at), name, kind });
      from = at + length;
    };
    const addText = (before: number) => {
      const isNext = text && from <= text.start && text.start < before;
      if (isNext) {
        add(field, "text", text.start, text.length);
      }
    };
    for (const { 0: whole, index } of data.matchAll(holes)) {
      addText(index);
      const value = whole.indexOf(":") + 1;
      const name = whole.slice(1, value - 2);
      if (name === "id") {
        add("", "text", index + value + 1, whole.length - value - 1);
      } else if (name === "created") {
        add("", "digits", index + value, whole.length - value);
      } else if ((chunk.usage as Counts | null)?.[name] === Number(whole.slice(value)) && !hasName(found, name)) {
        add(name, "digits", index + value, whole.length - value);
      } else {
        return undefined;
      }
    }
    addText(data.length);
    return new ChunkTemplate(found, data.slice(from), chunk);
  }

  /** A chunk of this form, good until the next call. Undefined: it has another form. */
  read(data: string): Chunk | undefined {
    let at = 0;
    for (let index = 0; index < this.#holes.length; index++) {
      const { before, name, kind } = this.#holes[index] as Hole;
      const start = at + before.length;
      if (data.slice(at, start) !== before) {
        return undefined;
      }
      if (kind === "text") {
        at = data.indexOf('"', start);
        if (at === -1) {
          return undefined;
        }
        const text = data.slice(start, at);
        if (text.includes("\\")) {
          return undefined;
        }
        if (name !== "") {
          this.#delta[name] = text;
        }
      } else {
        at = start;
        let value = 0;
        for (let digit = digitAt(data, at); digit >= 0; digit = digitAt(data, ++at)) {
          value = value * 10 + digit;
        }
        if (at === start || value > Number.MAX_SAFE_INTEGER) {
          return undefined;
        }
        if (name !== "") {
          this.#counts[name] = value;
        }
      }
    }
    return data.slice(at) === this.#end ? this.#chunk : undefined;
  }
}

/** Whether a chunk holds no more than a piece of text, its counts and the answer's end. */
function isCommon({ error, choices }: Chunk): boolean {
  const [choice, ...others] = choices ?? [];
  const delta = choice?.delta;
  if (error || others.length > 0 || choice?.text || delta?.tool_calls || delta?.function_call) {
    return false;
  }
  return textFields.filter((name) => delta?.[name]).length <= 1;
}

/** Where a field's text stands. Undefined: it is written with an escape, or the field occurs again. */
function placeOf(data: string, field: string, text: string): { start: number; length: number } | undefined {
  const opening = `"${field}":"`;
  const start = data.indexOf(opening) + opening.length;
  const isThere = data.startsWith(`${text}"`, start) && !data.includes(opening, start);
  return isThere ? { start, length: text.length } : undefined;
}

function hasName(holes: readonly Hole[], name: string): boolean {
  return holes.some((hole) => hole.name === name);
}

/** -1: there is no digit. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}
