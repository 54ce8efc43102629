import type { ServedModel } from "../catalogue/interface.ts";
import type { EngineOutput, EngineUsage } from "../engines/interface.ts";
import type { FleetRequest } from "../interface.ts";
import { believableInput, isBelievableInput } from "./believable-tokens.ts";
import { serverFailed } from "./failures.ts";

/** The most tokens beyond the cap that one socket read brings: it reads 64 KiB, and a token takes about 60 bytes. */
const perRead = 2048;

/** Allowance for tokens that produce no visible text, such as the end-of-text token. */
const unseen = 64;

/** The most characters of an answer: the longest known tokens have 128, and tool calls add ids and JSON. */
const perToken = 256;
const perAnswer = 16_384;

/** The parts of a request that bound its token counts. */
type Judged = Pick<FleetRequest, "prompt" | "maxOutputTokens">;

/**
 * Judges what a server reports about one generation. An impossible count is replaced by the highest possible one. An
 * answer that is longer than its tokens allow is stopped.
 */
export class Plausibility {
  readonly #model: ServedModel;
  readonly #request: Judged;
  readonly #onDoubt: (what: string) => void;
  #doubted = false;
  #characters = 0;
  /** The last count of the prompt's tokens: as reported, and as believed. */
  #toldInput = 0;
  #input = 0;

  /** `onDoubt` is called once, with the first impossible report. */
  constructor(model: ServedModel, request: Judged, onDoubt: (what: string) => void) {
    this.#model = model;
    this.#request = request;
    this.#onDoubt = onDoubt;
  }

  /** True while nothing impossible was reported. */
  get holds(): boolean {
    return !this.#doubted;
  }

  /** The output with believable counts. Throws ENGINE_FAILED for an answer beyond all bounds. */
  check(output: EngineOutput): EngineOutput {
    const came = charactersIn(output);
    this.#characters += came;
    const longest = perAnswer + this.#request.maxOutputTokens * perToken;
    if (this.#characters > longest) {
      const what = `sent more than ${longest} characters for ${this.#request.maxOutputTokens} tokens`;
      this.#doubt(what);
      throw serverFailed(what, false);
    }
    if (output.implausible !== undefined) {
      this.#doubt(output.implausible);
    }
    const { usage } = output;
    if (usage === undefined) {
      return output;
    }
    const inputTokens = this.#believeInput(usage.inputTokens);
    const outputTokens = this.#believeOutput(usage, came);
    if (inputTokens === usage.inputTokens && outputTokens === usage.outputTokens) {
      return output;
    }
    return { ...output, usage: withTokens(usage, inputTokens, outputTokens) };
  }

  #believeInput(told: number): number {
    if (told === this.#toldInput) {
      return this.#input;
    }
    this.#toldInput = told;
    this.#input = Math.min(told, this.#model.context_length);
    const { prompt } = this.#request;
    if (isBelievableInput(told, prompt, this.#model)) {
      return this.#input;
    }
    const bound = believableInput(prompt, this.#model);
    this.#doubt(`counted ${told} tokens in a prompt that has ${bound} at most`);
    this.#input = Math.min(this.#input, bound);
    return this.#input;
  }

  #believeOutput({ outputTokens: told, isLowerBound }: EngineUsage, came: number): number {
    const cap = this.#request.maxOutputTokens;
    if (told <= cap) {
      return told;
    }
    if (isLowerBound) {
      return cap;
    }
    const most = cap + Math.min(came, perRead);
    if (told > most + unseen) {
      this.#doubt(`counted ${told} tokens in an answer of ${cap} at most`);
    }
    return Math.min(told, most);
  }

  #doubt(what: string): void {
    if (this.#doubted) {
      return;
    }
    this.#doubted = true;
    this.#onDoubt(what);
  }
}

function withTokens(usage: EngineUsage, inputTokens: number, outputTokens: number): EngineUsage {
  const { reasoningTokens, cachedInputTokens } = usage;
  return {
    ...usage,
    inputTokens,
    outputTokens,
    ...(reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, outputTokens) }),
    ...(cachedInputTokens !== undefined && { cachedInputTokens: Math.min(cachedInputTokens, inputTokens) }),
  };
}

function charactersIn({ events }: EngineOutput): number {
  let characters = 0;
  for (const { event } of events) {
    switch (event.case) {
      case "text":
      case "reasoning":
        characters += event.value.length;
        break;
      case "toolCallArguments":
        characters += event.value.fragment.length;
        break;
      case "toolCallStarted":
        characters += event.value.id.length + event.value.name.length;
        break;
      default: // started and finished are the core's own
    }
  }
  return characters;
}
