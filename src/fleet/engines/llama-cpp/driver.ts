import { ChatCompletionsEngine } from "../shared/chat-completions/engine.ts";
import { httpDriver } from "../shared/driver.ts";
import { llamaCpp } from "./dialect.ts";
import { inspect } from "./inspect.ts";
import { startCommand } from "./start.ts";

export const driver = httpDriver({
  create: (url, settings) => new ChatCompletionsEngine(url, llamaCpp, settings),
  inspect,
  startCommand,
  detect: { owner: "llamacpp", port: 8080, call: { path: "/props", field: "total_slots" } },
});
