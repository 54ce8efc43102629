import { ChatCompletionsEngine } from "../shared/chat-completions/engine.ts";
import { httpDriver } from "../shared/driver.ts";
import { trtllm } from "./dialect.ts";
import { inspect } from "./inspect.ts";
import { startCommand } from "./start.ts";

export const driver = httpDriver({
  create: (url, settings) => new ChatCompletionsEngine(url, trtllm, settings),
  inspect,
  startCommand,
  detect: { owner: "tensorrt_llm" },
});
