import type { Exchange } from "../dialects/dialect.ts";
import type { Model } from "../engine/model.ts";
import { encode } from "../engine/tokenizer.ts";
import { EngineError } from "../engine-error.ts";
import { none } from "../faults.ts";
import { faultsOf, modelOf } from "./exchange.ts";
import { sendJson } from "./reply.ts";

/** POST /v1/embeddings */
export function embeddings(exchange: Exchange): void {
  const { body, response } = exchange;
  const model = embedder(exchange);
  withFaults(exchange, (truncates) => {
    const inputs = inputsOf(body.input).map((text, index) => measured(exchange, model, text, index, truncates));
    const tokens = inputs.reduce((sum, ids) => sum + ids.length, 0);
    const data = inputs.map((ids, index) => ({
      index,
      object: "embedding",
      embedding: encoded(model.embed(ids), body.encoding_format === "base64"),
    }));
    const usage = { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0, prompt_tokens_details: null };
    model.scheduler.counters.promptTokens += tokens;
    sendJson(response, 200, { id: "embd-simulated", object: "list", created: 0, model: model.traits.id, data, usage });
  });
}

/** The model of a request if it embeds. */
export function embedder(exchange: Exchange): Model {
  const model = modelOf(exchange);
  if (model.traits.kind === "embedding") return model;
  throw new EngineError(404, `The model \`${model.traits.id}\` does not support Embeddings API`, { param: "model" });
}

/** Lets faults happen that strike before the work; tells whether inputs are to be cut. */
export function withFaults(exchange: Exchange, work: (truncates: boolean) => void): void {
  const fault = faultsOf(exchange, none);
  const start = () => {
    if (fault.status !== undefined) throw new EngineError(fault.status, `Simulated fault: status ${fault.status}`);
    if (fault.cut !== undefined) exchange.response.socket?.destroySoon();
    else if (fault.reset !== undefined) exchange.response.socket?.resetAndDestroy();
    else if (fault.die !== undefined) exchange.host.die();
    else if (fault.stall === undefined) work(fault.truncate === true);
  };
  if (fault.latency === undefined) start();
  else exchange.host.settings.clock.after(fault.latency, () => exchange.guard(start));
}

/** The tokens of an input, which has to fit the model. */
function measured({ host }: Exchange, model: Model, text: string, index: number, truncates: boolean): number[] {
  const tokens = encode(text);
  const limit = model.traits.contextLength;
  if (tokens.length <= limit) return tokens;
  if (truncates || host.dialect.truncatesInputs) return tokens.slice(0, limit);
  throw host.dialect.inputTooLong(tokens.length, limit, index);
}

function inputsOf(input: unknown): string[] {
  if (typeof input === "string") return [input];
  if (Array.isArray(input) && input.length > 0 && input.every((one) => typeof one === "string")) return input;
  throw new EngineError(400, "input must be a string or a non-empty array of strings", { param: "input" });
}

function encoded(vector: Float32Array, base64: boolean): string | number[] {
  return base64
    ? Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64")
    : Array.from(vector);
}
