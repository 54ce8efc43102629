import type { Exchange } from "../dialects/dialect.ts";
import type { Model } from "../engine/model.ts";
import { encode, special } from "../engine/text/tokenizer.ts";
import { EngineError } from "../engine-error.ts";
import { type Fault, none } from "../faults.ts";
import { findEmbedder, underFaults } from "./exchange.ts";
import { sendJson } from "./reply.ts";

/** The vectors of inputs. */
export interface Embedded {
  readonly model: string;
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
}

/** POST /v1/embeddings */
export function embeddings(exchange: Exchange): void {
  const { body, host, response } = exchange;
  const base64 = body.encoding_format === "base64";
  embedInputs(exchange, body.input, undefined, ({ model, vectors, tokens }) => {
    const data = vectors.map((vector, index) => ({ object: "embedding", index, embedding: encoded(vector, base64) }));
    sendJson(response, 200, { object: "list", data, model, usage: host.dialect.embeddingUsage(tokens) });
  });
}

/** Embeds one string or several. `truncates` is what the request says about inputs that are too long. */
export function embedInputs(
  exchange: Exchange,
  input: unknown,
  truncates: boolean | undefined,
  answer: (embedded: Embedded) => void,
): void {
  const model = findEmbedder(exchange);
  const { host, response } = exchange;
  const inputs = readInputs(input);
  underFaults(exchange, none, ({ cut, reset, die, stall, truncate }) => {
    if (cut !== undefined) {
      response.socket?.destroySoon();
    } else if (reset !== undefined) {
      response.socket?.resetAndDestroy();
    } else if (die !== undefined) {
      host.die();
    } else if (stall === undefined) {
      const cuts = truncate !== undefined || (truncates ?? host.settings.truncates ?? host.dialect.truncates);
      const encoded = inputs.map((text) => measured(exchange, model, text, cuts));
      if (model.scheduler.full) {
        throw host.dialect.overloaded();
      }
      const tokens = sizeOf(encoded, inputs, truncate);
      const abort = model.embed(encoded, (vectors) => answer({ model: model.traits.id, vectors, tokens }));
      response.on("close", abort);
    }
  });
}

/** The tokens of an input, truncated or refused where they do not fit the model. */
function measured({ host }: Exchange, { traits }: Model, text: string, cuts: boolean): number[] {
  const tokens = tokensOf(text);
  if (tokens.length <= traits.contextLength) {
    return tokens;
  }
  if (cuts) {
    return tokens.slice(0, traits.contextLength);
  }
  throw host.dialect.inputTooLong(tokens.length, traits.contextLength);
}

/** The tokens that are counted. */
function sizeOf(encoded: readonly number[][], inputs: readonly string[], truncate: Fault["truncate"]): number {
  const counted = truncate === "counted" ? inputs.map(tokensOf) : encoded;
  return counted.reduce((sum, ids) => sum + ids.length, 0);
}

/** An empty input has only the end token. */
const tokensOf = (text: string): number[] => (text === "" ? [special.end] : encode(text));

function readInputs(input: unknown): string[] {
  if (typeof input === "string") {
    return [input];
  }
  if (Array.isArray(input) && input.length > 0 && input.every((one) => typeof one === "string")) {
    return input;
  }
  throw new EngineError(400, "input must be a string or a non-empty array of strings", { param: "input" });
}

function encoded(vector: Float32Array, base64: boolean): string | number[] {
  return base64
    ? Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64")
    : Array.from(vector);
}
