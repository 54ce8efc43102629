import type { ConnectError } from "@connectrpc/connect";
import { parseJson } from "#lib/text/json/parse.ts";
import {
  contextExceeded,
  engineFailed,
  engineOverloaded,
  engineRefused,
  type Overflow,
  toDiagnosis,
} from "../faults.ts";
import type { HttpResponse } from "../http/connection.ts";

/** An error of an OpenAI-compatible engine, however it is wrapped. */
export interface EngineError {
  readonly message: string;
  readonly type: string;
  readonly code: unknown;
  readonly overflow: Overflow | undefined;
}

/** The failure for an error status. `where` names the server, for the log. */
export function toRefusal(where: string, response: HttpResponse): ConnectError {
  const error = readError(parseJson(response.text));
  const what = `${where} answered ${response.status}: ${toDiagnosis([error.type, error.code], error.message)}`;
  if (error.overflow !== undefined) {
    return contextExceeded(what, error.overflow);
  }
  switch (response.status) {
    case 429:
    case 503:
      return engineOverloaded(what, retryAfterMs(response.headers["retry-after"]));
    case 400:
    case 413:
    case 422:
      return engineRefused(what);
    case 408:
      return engineFailed(what, true);
    default:
      // Any other 4xx comes from the operator's configuration, such as a wrong model name.
      return engineFailed(what, response.status >= 500);
  }
}

/** The failure for an error within a stream. */
export function streamFailure(where: string, value: unknown): ConnectError {
  const error = readError({ error: value });
  const what = `${where} broke off: ${toDiagnosis([error.type, error.code], error.message)}`;
  if (error.overflow !== undefined) {
    return contextExceeded(what, error.overflow);
  }
  const code = typeof error.code === "object" ? Number.NaN : Number(error.code);
  if (code === 429 || code === 503) {
    return engineOverloaded(what, 1000);
  }
  if (code === 400 || code === 422 || /^bad_?request/i.test(error.type)) {
    return engineRefused(what);
  }
  return engineFailed(what, true);
}

/** Reads `{error: {…}}`, `{error: "…"}`, `{message: …}` and `{detail: …}`. */
export function readError(body: unknown): EngineError {
  const outer = toObject(body);
  const inner = outer.error ?? outer.detail ?? outer;
  const fields = typeof inner === "string" ? { message: inner } : toObject(inner);
  const message = typeof fields.message === "string" ? ends(fields.message) : "";
  const type = typeof fields.type === "string" ? fields.type : "";
  const code = fields.code ?? outer.code;
  return { message, type, code, overflow: readOverflow(message, type, fields) };
}

/** The wordings of several years of vLLM, of SGLang, llama-server and TensorRT-LLM. */
const overflowing =
  /maximum context length|context length is only|longer than the (model's|maximum) (context|model) length|exceeds the (model's|available) context|context size|input length|is too large to process|should not exceed max_num_tokens|cannot be greater than max_model_len/i;

function readOverflow(message: string, type: string, fields: Record<string, unknown>): Overflow | undefined {
  if (type === "exceed_context_size_error") {
    return { limit: readNumber(fields.n_ctx), actual: readNumber(fields.n_prompt_tokens) };
  }
  if (!overflowing.test(message)) {
    return undefined;
  }
  const limit = numberIn(message, [
    /maximum context length is (\d+)/i,
    /context length is only (\d+)/i,
    /(?:context|model) length (?:of |\()(\d+)/i,
    /max_model_len=(?:\w+=)?(\d+)/i,
    /current batch size: (\d+)/i,
    /max_num_tokens \((\d+)\)/i,
  ]);
  const requestedOutput = numberIn(message, [
    /requested (\d+) output tokens/i,
    /(?<!\d)(\d+) (?:tokens )?(?:in|for) the completion/i,
    /max(?:_completion)?_tokens=(\d+)/i,
  ]);
  const actual = numberIn(message, [
    /prompt contains (\d+) input tokens/i,
    /passed (\d+) input tokens/i,
    /\((\d+) in the (?:messages|prompt)/i,
    /(?<!\d)(\d+) tokens from the input/i,
    /resulted in (\d+)/i,
    /(?:prompt|prompt length|input) \((?:length )?(\d+)/i,
    /input length (?:of )?\(?(\d+)/i,
  ]);
  // vLLM stops counting one token past the limit: that says nothing about the prompt.
  const cut = limit !== undefined && actual === limit - (requestedOutput ?? 0) + 1;
  return { limit, requestedOutput, actual: cut ? undefined : actual };
}

/** The number that the first matching pattern captures. */
function numberIn(text: string, patterns: readonly RegExp[]): number | undefined {
  const digits = patterns.map((pattern) => pattern.exec(text)?.[1]).find((caught) => caught !== undefined);
  return digits === undefined ? undefined : Number(digits);
}

function readNumber(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** Milliseconds from the header's seconds. Without a number from 1 to 60: 1 s. */
function retryAfterMs(header: string | string[] | undefined): number {
  const seconds = Number(header);
  return seconds >= 1 && seconds <= 60 ? seconds * 1000 : 1000;
}

/** Cuts the middle out of a message longer than any known one: patterns take quadratic time. */
function ends(message: string): string {
  return message.length <= 4096 ? message : `${message.slice(0, 2048)} ${message.slice(-2048)}`;
}

function toObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
