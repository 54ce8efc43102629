import { ChatCompletionsEngine } from "../shared/chat-completions/engine.ts";
import { httpDriver } from "../shared/driver.ts";
import { sglang } from "./dialect.ts";
import { inspect } from "./inspect.ts";
import { startCommand } from "./start.ts";

export const driver = httpDriver({
  create: (url, settings) => new ChatCompletionsEngine(url, sglang, settings),
  inspect,
  startCommand,
  detect: { owner: "sglang", port: 30_000, call: { path: "/get_model_info", field: "model_path" } },
});
