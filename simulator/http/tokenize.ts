import type { Exchange } from "../dialects/dialect.ts";
import { encode } from "../engine/text/tokenizer.ts";
import { EngineError } from "../engine-error.ts";
import { readChat } from "./chat-request.ts";
import { findModel } from "./exchange.ts";
import { chatPrompt } from "./generate.ts";
import { sendJson } from "./reply.ts";

/** POST /tokenize in the form of vLLM and SGLang: a `prompt`, or `messages` as for a chat. */
export function tokenize(exchange: Exchange): void {
  const model = findModel(exchange);
  const tokens = readTokens(exchange);
  const count = { count: tokens.length, max_model_len: model.traits.contextLength };
  sendJson(exchange.response, 200, { ...count, tokens, token_strs: null });
}

function readTokens(exchange: Exchange): number[] {
  const { body } = exchange;
  if (Array.isArray(body.messages)) {
    return chatPrompt(readChat(body), findModel(exchange));
  }
  if (typeof body.prompt === "string") {
    return encode(body.prompt);
  }
  throw new EngineError(400, "prompt or messages is required", { param: "prompt" });
}
