import { EngineError } from "../../engine-error.ts";
import type { Dialect } from "../dialect.ts";
import { openai } from "../openai/dialect.ts";
import { errorBody, inputTooLong } from "./errors.ts";
import { routes } from "./routes.ts";

/** text-embeddings-inference. It only embeds. `truncates` is its `--auto-truncate`. */
export const tei: Dialect = {
  name: "tei",
  anyModelName: true,
  truncates: true,
  routes,
  chat: openai.chat,
  completion: openai.completion,
  embeddingUsage: (tokens) => ({ prompt_tokens: tokens, total_tokens: tokens }),
  error: errorBody,
  brokenStream: () => undefined,
  overloaded: () => new EngineError(429, "Model is overloaded"),
  loading: () => new EngineError(503, "unhealthy"),
  unknownModel: (id) => new EngineError(404, `unknown model ${id}`),
  inputTooLong,
  fit: openai.fit,
};
