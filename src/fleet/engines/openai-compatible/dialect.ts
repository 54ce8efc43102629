import type { Dialect } from "../shared/chat-completions/dialect.ts";
import { thinkingFields } from "../shared/chat-completions/thinking.ts";

/** Any server with an OpenAI-compatible API about which nothing else is known. */
export const openaiCompatible: Dialect = {
  engine: "openai",
  sampling: "openai",
  countsAsItGoes: false,
  mayIgnoreStops: true, // `transformers serve` does
  promptFields: thinkingFields,
  fields: () => ({ stream_options: { include_usage: true } }),
  healthPath: "/v1/models",
  otherHealthPath: "/health", // `transformers serve` cannot list a model that it loaded from a folder
  embedBatch: 128,
  embedFormat: "float",
};
