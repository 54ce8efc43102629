import type { Call, Encoder } from "../dialect.ts";
import { doneEvent, event, eventStream } from "./sse.ts";
import { readText } from "./texts.ts";

/** An engine's own fields in text completions. */
export interface CompletionStyle {
  /** Further fields of every answer and chunk. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Further fields of a choice. `last`: the choice has the finish reason. */
  choice?(call: Call, at: number, last: boolean): Readonly<Record<string, unknown>>;
  /** The usage after `produced` output tokens. Undefined: none is reported. */
  usage(call: Call, produced: number): unknown;
  /** The running usage in a chunk, beside its choice. */
  running?(call: Call, produced: number): Readonly<Record<string, unknown>>;
}

/** Writes the answer to a text completion. */
export class CompletionEncoder implements Encoder {
  readonly contentType = eventStream;
  readonly #call: Call;
  readonly #style: CompletionStyle;
  readonly #head: Readonly<Record<string, unknown>>;

  constructor(call: Call, style: CompletionStyle) {
    this.#call = call;
    this.#style = style;
    this.#head = {
      id: `cmpl-${call.id}`,
      object: "text_completion",
      created: Math.floor(call.startedAt / 1000),
      model: call.model.traits.id,
      ...style.fields,
    };
  }

  open(): string {
    return "";
  }

  token(at: number): string {
    const { request, run } = this.#call;
    const { output } = run;
    const last = at === output.length - 1;
    if (output.kinds[at] === "silent" && !last && !request.returnTokenIds) {
      return "";
    }
    const choices = [this.#choice(output.texts[at] ?? "", last ? output.finish : null, at, last)];
    return event({ ...this.#head, choices, ...this.#style.running?.(this.#call, at + 1) });
  }

  close(): string {
    const { request, run } = this.#call;
    const usage = request.includeUsage ? this.#style.usage(this.#call, run.output.length) : undefined;
    const end = doneEvent(this.#call);
    return usage === undefined ? end : event({ ...this.#head, choices: [], usage }) + end;
  }

  gathered(): unknown {
    const { output } = this.#call.run;
    const choices = [this.#choice(readText(this.#call, "text"), output.finish, output.length - 1, true)];
    return { ...this.#head, choices, usage: this.#style.usage(this.#call, output.length) };
  }

  #choice(text: string, finish: string | null, at: number, last: boolean) {
    return { index: 0, text, logprobs: null, finish_reason: finish, ...this.#style.choice?.(this.#call, at, last) };
  }
}
