import type { Dialect } from "../dialect.ts";
import { ChatEncoder } from "../openai/chat.ts";
import { openai } from "../openai/dialect.ts";

/** `transformers serve`: usage comes in the finish chunk, and no `[DONE]` ends a stream. */
export const transformers: Dialect = {
  ...openai,
  name: "transformers",
  anyModelName: true,
  routes: { ...openai.routes, "GET /health": ({ response }) => void response.writeHead(200).end() },
  chat: (call) => new ChatEncoder(call, { usageOnFinish: true, done: false }),
};
