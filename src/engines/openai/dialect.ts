import type { Dialect } from "../openai-http/dialect.ts";
import { thinkingFields } from "../openai-http/thinking.ts";

/** Any server with an OpenAI-compatible API of which nothing else is known. */
export const openai: Dialect = {
  engine: "openai",
  countsAsItGoes: false,
  promptFields: thinkingFields,
  fields: () => ({ stream_options: { include_usage: true } }),
  healthPath: "/v1/models",
  embedBatch: 128,
  embedFormat: "float",
};
