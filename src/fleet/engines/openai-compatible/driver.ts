import { ChatCompletionsEngine } from "../shared/chat-completions/engine.ts";
import { httpDriver } from "../shared/driver.ts";
import { openaiCompatible } from "./dialect.ts";
import { inspect } from "./inspect.ts";

export const driver = httpDriver({
  create: (url, settings) => new ChatCompletionsEngine(url, openaiCompatible, settings),
  inspect,
});
