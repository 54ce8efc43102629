import type { Chunk } from "./chunk.ts";

const textFields = ["content", "reasoning", "reasoning_content"] as const;

/** The places beside the text where two chunks differ: the id and the time, which are not needed, and the counts. */
const holes = /(?<=[{,])(?:"id":"[^"\\]*|"(?:created|prompt_tokens|completion_tokens|total_tokens)":\d+)(?=[",}])/g;

type Counts = Record<string, number>;

/** A place where chunks differ, and the text before it. */
interface Hole {
  readonly before: string;
  /** The name of a count, or of the field of the text. Empty: the value is not needed. */
  readonly name: string;
  readonly kind: "text" | "digits";
}

/**
 * The common form of many chunks. Nearly all chunks of an engine differ in few places only, mainly in their piece of
 * text and their counts. Such a chunk is read by comparing the rest, which costs a third of parsing its JSON. Any other
 * chunk, or one whose text has an escape, is left to the parser.
 */
export class ChunkTemplate {
  readonly #holes: readonly Hole[];
  readonly #end: string;
  readonly #delta: Record<string, unknown>;
  readonly #counts: Counts;
  /** The result of `read`, overwritten each time. */
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

  /** The template of a chunk, given as JSON text and parsed. Undefined: its form does not recur, as with tool calls. */
  static of(data: string, chunk: Chunk): ChunkTemplate | undefined {
    if (!isCommon(chunk)) {
      return undefined;
    }
    const delta = chunk.choices?.[0]?.delta;
    const field = textFields.find((name) => delta?.[name]);
    const text = field && findPlace(data, field, delta?.[field] ?? "");
    if (field && !text) {
      return undefined;
    }

    const found = findHoles(data, chunk, text && { ...text, field: field as string });
    return found && new ChunkTemplate(found.holes, data.slice(found.end), chunk);
  }

  /** Reads a chunk of this form. The result is valid until the next call. Undefined: the chunk has another form. */
  read(data: string): Chunk | undefined {
    let at = 0;
    for (let index = 0; index < this.#holes.length && at !== -1; index++) {
      const hole = this.#holes[index] as Hole;
      const start = at + hole.before.length;
      if (data.slice(at, start) !== hole.before) {
        return undefined;
      }
      at = hole.kind === "text" ? this.#readText(data, start, hole.name) : this.#readDigits(data, start, hole.name);
    }
    return at !== -1 && data.slice(at) === this.#end ? this.#chunk : undefined;
  }

  /** The position where the text ends. -1: it has no end here, or it has an escape. */
  #readText(data: string, start: number, name: string): number {
    const end = data.indexOf('"', start);
    const text = end === -1 ? "\\" : data.slice(start, end);
    if (text.includes("\\")) {
      return -1;
    }
    if (name !== "") {
      this.#delta[name] = text;
    }
    return end;
  }

  /** The position where the digits end. -1: there are none, or too many. */
  #readDigits(data: string, start: number, name: string): number {
    let at = start;
    let value = 0;
    for (let digit = digitAt(data, at); digit >= 0; digit = digitAt(data, ++at)) {
      value = value * 10 + digit;
    }
    if (at === start || value > Number.MAX_SAFE_INTEGER) {
      return -1;
    }
    if (name !== "") {
      this.#counts[name] = value;
    }
    return at;
  }
}

/** A piece of text within a chunk, and its field. */
interface Piece {
  readonly start: number;
  readonly length: number;
  readonly field: string;
}

/** The places where chunks differ, and where the last one ends. Undefined: one of them is ambiguous. */
function findHoles(data: string, { usage }: Chunk, text: Piece | undefined) {
  const found: Hole[] = [];
  let end = 0;
  const add = (name: string, kind: Hole["kind"], at: number, length: number) => {
    found.push({ before: data.slice(end, at), name, kind });
    end = at + length;
  };
  const addText = (before: number) => {
    const isNext = text && end <= text.start && text.start < before;
    if (isNext) {
      add(text.field, "text", text.start, text.length);
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
    } else if ((usage as Counts | null)?.[name] === Number(whole.slice(value)) && !hasName(found, name)) {
      add(name, "digits", index + value, whole.length - value);
    } else {
      return undefined;
    }
  }
  addText(data.length);
  return { holes: found, end };
}

/** Whether a chunk has no more than a piece of text, its counts and the answer's end. */
function isCommon({ error, choices }: Chunk): boolean {
  const [choice, ...others] = choices ?? [];
  const delta = choice?.delta;
  if (error || others.length > 0 || choice?.text || delta?.tool_calls || delta?.function_call) {
    return false;
  }
  return textFields.filter((name) => delta?.[name]).length <= 1;
}

/** The position of a field's text. Undefined: the text is escaped, or the field occurs again. */
function findPlace(data: string, field: string, text: string): { start: number; length: number } | undefined {
  const opening = `"${field}":"`;
  const start = data.indexOf(opening) + opening.length;
  const isThere = data.startsWith(`${text}"`, start) && !data.includes(opening, start);
  return isThere ? { start, length: text.length } : undefined;
}

function hasName(holes: readonly Hole[], name: string): boolean {
  return holes.some((hole) => hole.name === name);
}

/** The value of a digit. -1: not a digit. */
function digitAt(text: string, at: number): number {
  const digit = text.charCodeAt(at) - 0x30;
  return digit >= 0 && digit <= 9 ? digit : -1;
}
