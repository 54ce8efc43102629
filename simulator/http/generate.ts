import { randomUUID } from "node:crypto";
import type { Call, Encoder, Exchange } from "../dialects/dialect.ts";
import { directivesIn } from "../engine/directives.ts";
import type { Generation, Model, Run } from "../engine/model.ts";
import { applyTemplate, type Message } from "../engine/text/chat-template.ts";
import { encode } from "../engine/text/tokenizer.ts";
import { thinkingDepth } from "../engine/thinking.ts";
import { EngineError } from "../engine-error.ts";
import { type Fault, faultInPrompt } from "../faults.ts";
import { type ChatRequest, readChat, readSampling, type SamplingRequest } from "./chat-request.ts";
import { Delivery } from "./delivery.ts";
import { findGenerator, underFaults } from "./exchange.ts";

/** POST /v1/chat/completions */
export function chat(exchange: Exchange): void {
  checkFields(exchange, exchange.host.dialect.chatFields);
  answerChat(exchange, readChat(exchange.body), (call) => exchange.host.dialect.chat(call));
}

/** Answers a chat request, whatever the form of the request and of the answer. */
export function answerChat(exchange: Exchange, request: ChatRequest, encoder: (call: Call) => Encoder): void {
  const model = findGenerator(exchange);
  const { dialect, settings } = exchange.host;
  checkRoles(request.messages, model);
  const takesTools = settings.setup.toolCalls;
  const refusal = !takesTools && request.tools.length > 0 ? dialect.toolsRefused?.() : undefined;
  if (refusal !== undefined) {
    throw refusal;
  }
  const last = request.messages.findLastIndex(({ role }) => role === "user");
  const since = request.messages.slice(last + 1);
  generate(exchange, model, request, encoder, {
    prompt: chatPrompt(request, model),
    text: request.messages[last]?.content ?? "",
    toolResults: since.filter(({ role }) => role === "tool").map(({ content }) => content),
    tools: takesTools ? request.tools : [],
    toolChoice: takesTools ? request.toolChoice : "none",
    parallelCalls: request.parallelCalls,
    depth: thinkingDepth(model.traits.thinking, request.thinking),
    shown: model.traits.thinking.shown,
  });
}

/** POST /v1/completions */
export function completion(exchange: Exchange): void {
  checkFields(exchange, exchange.host.dialect.completionFields);
  const model = findGenerator(exchange);
  const { prompt } = exchange.body;
  const text = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof text !== "string") {
    throw new EngineError(400, "prompt must be one string", { param: "prompt" });
  }
  if (text === "") {
    throw new EngineError(400, "The decoder prompt cannot be empty", { param: "prompt" });
  }
  generate(exchange, model, readSampling(exchange.body), (call) => exchange.host.dialect.completion(call), {
    prompt: encode(text),
    text,
    toolResults: [],
    tools: [],
    toolChoice: "none",
    parallelCalls: false,
    // Without a chat template nothing switches the thinking, and no parser removes it from the text.
    depth: model.traits.thinking.mode === "always" ? "normal" : "none",
    shown: "tags",
  });
}

/** The prompt that the chat template makes from a request. */
export function chatPrompt(
  request: Pick<ChatRequest, "messages" | "tools" | "thinking" | "continueFinal">,
  { traits: { thinking } }: Model,
): number[] {
  return applyTemplate({
    messages: request.messages,
    tools: request.tools,
    depth: thinkingDepth(thinking, request.thinking),
    continueFinal: request.continueFinal,
    opensThinking: thinking.shown === "closing-tag",
  });
}

/** Refuses a field that is not among the known ones. */
function checkFields({ body }: Exchange, known: ReadonlySet<string> | undefined): void {
  const unknown = known && Object.keys(body).find((field) => !known.has(field));
  if (unknown !== undefined) {
    const message = `[{'type': 'extra_forbidden', 'loc': ('body', '${unknown}'), 'msg': 'Extra inputs are not permitted'}]`;
    throw new EngineError(400, message, { type: "validation" });
  }
}

function checkRoles(messages: readonly Message[], { traits }: Model): void {
  for (const [at, { role }] of messages.entries()) {
    if (!["system", "user", "assistant", "tool"].includes(role)) {
      throw new EngineError(400, "Unexpected message role.");
    }
    if (role === "system" && at > 0 && !traits.systemAnywhere) {
      throw new EngineError(400, "System message must be at the beginning.");
    }
  }
}

type Asked = Omit<Generation, "directives" | "limits" | "seed" | "salt" | "stallAt">;

function generate(
  exchange: Exchange,
  model: Model,
  request: SamplingRequest,
  encoder: (call: Call) => Encoder,
  asked: Asked,
): void {
  const directives = directivesIn(asked.text);
  underFaults(exchange, faultInPrompt(directives), (fault) => {
    const { dialect, settings } = exchange.host;
    const { prompt, maxTokens } = dialect.fit(asked.prompt, request, model.traits.contextLength);
    if (model.scheduler.full) {
      throw dialect.overloaded();
    }
    const generation: Generation = {
      ...asked,
      directives,
      prompt,
      limits: { ...request.limits, maxTokens },
      seed: request.seed ?? settings.seed,
      salt: settings.setup.prefixCaching ? request.cacheSalt : randomUUID(),
      stallAt: fault.stall,
    };
    let delivery: Delivery | undefined;
    const run = model.start(generation, (_, to) => delivery?.progress(to));
    const call = toCall(exchange, model, request, run, fault, typeof asked.toolChoice === "object");
    delivery = new Delivery(exchange.host, exchange.response, exchange.path, call, encoder(call));
  });
}

function toCall(
  { request, host }: Exchange,
  model: Model,
  sampling: SamplingRequest,
  run: Run,
  fault: Fault,
  namedTool: boolean,
): Call {
  // Engines adopt the caller's request id. Without one, the id is derived from the prompt, so that it is reproducible,
  // too.
  const given = request.headers["x-request-id"];
  const id = typeof given === "string" ? given : run.seed.toString(16).padStart(8, "0");
  const { clock, setup } = host.settings;
  const { cacheReport } = setup;
  return { id, startedAt: clock.now(), model, request: sampling, run, fault, cacheReport, namedTool };
}
