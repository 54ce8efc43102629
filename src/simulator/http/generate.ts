import type { Call, Exchange } from "../dialects/dialect.ts";
import { applyTemplate, type Message } from "../engine/chat-template.ts";
import { directivesIn } from "../engine/directives.ts";
import type { Generation, Model, Run } from "../engine/model.ts";
import { thinkingDepth } from "../engine/thinking.ts";
import { encode } from "../engine/tokenizer.ts";
import { EngineError } from "../engine-error.ts";
import { type Fault, faultInPrompt } from "../faults.ts";
import { type ChatRequest, readChat, readSampling, type SamplingRequest } from "./chat-request.ts";
import { Delivery } from "./delivery.ts";
import { faultsOf, modelOf } from "./exchange.ts";

/** POST /v1/chat/completions */
export function chat(exchange: Exchange): void {
  const model = generative(exchange);
  const request = readChat(exchange.body);
  checkRoles(request.messages, model);
  const question = request.messages.findLast(({ role }) => role === "user")?.content ?? "";
  const answered = request.messages.slice(request.messages.findLastIndex(({ role }) => role === "user") + 1);
  begin(exchange, model, request, {
    prompt: chatPrompt(request, model),
    text: question,
    toolResults: answered.filter(({ role }) => role === "tool").map(({ content }) => content),
    tools: request.tools,
    toolChoice: request.toolChoice,
    parallelCalls: request.parallelCalls,
    depth: thinkingDepth(model.traits.thinking, request.thinking),
  });
}

/** POST /v1/completions */
export function completion(exchange: Exchange): void {
  const model = generative(exchange);
  const { prompt } = exchange.body;
  const text = Array.isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt;
  if (typeof text !== "string") throw new EngineError(400, "prompt must be one string", { param: "prompt" });
  begin(exchange, model, readSampling(exchange.body), {
    prompt: encode(text),
    text,
    toolResults: [],
    tools: [],
    toolChoice: "none",
    parallelCalls: false,
    // Without a chat template nothing can switch the thinking.
    depth: model.traits.thinking.mode === "always" ? "normal" : "none",
  });
}

/** The prompt that the chat template makes of a request. */
export function chatPrompt(
  request: Pick<ChatRequest, "messages" | "tools" | "thinking" | "continueFinal">,
  model: Model,
): number[] {
  const { thinking } = model.traits;
  return applyTemplate({
    messages: request.messages,
    tools: request.tools,
    depth: thinkingDepth(thinking, request.thinking),
    continueFinal: request.continueFinal,
    opensThinking: thinking.shown === "closing-tag",
  });
}

function generative(exchange: Exchange): Model {
  const model = modelOf(exchange);
  if (model.traits.kind === "generation") return model;
  throw new EngineError(404, `The model \`${model.traits.id}\` does not support generation.`, { param: "model" });
}

function checkRoles(messages: readonly Message[], { traits }: Model): void {
  for (const [at, { role }] of messages.entries()) {
    if (!["system", "user", "assistant", "tool"].includes(role)) throw new EngineError(400, "Unexpected message role.");
    if (role === "system" && at > 0 && !traits.systemAnywhere) {
      throw new EngineError(400, "System message must be at the beginning.");
    }
  }
}

type Asked = Omit<Generation, "limits" | "seed" | "salt" | "stallAt">;

function begin(exchange: Exchange, model: Model, request: SamplingRequest, asked: Asked): void {
  const fault = faultsOf(exchange, faultInPrompt(directivesIn(asked.text)));
  const act = () => start(exchange, model, request, asked, fault);
  if (fault.latency === undefined) act();
  else exchange.host.settings.clock.after(fault.latency, () => exchange.guard(act));
}

function start(exchange: Exchange, model: Model, request: SamplingRequest, asked: Asked, fault: Fault): void {
  const { host, response } = exchange;
  if (response.destroyed) return;
  if (fault.status !== undefined) throw new EngineError(fault.status, `Simulated fault: status ${fault.status}`);
  if (model.scheduler.full) throw host.dialect.overloaded();
  const { prompt, maxTokens } = host.dialect.fit(asked.prompt, request, model);
  let delivery: Delivery | undefined;
  const generation: Generation = {
    ...asked,
    prompt,
    limits: { ...request.limits, maxTokens },
    seed: request.seed ?? host.settings.seed,
    salt: request.cacheSalt,
    stallAt: fault.stall,
  };
  const run = model.start(generation, (_, from, to) => delivery?.progress(from, to));
  const call: Call = {
    id: idOf(exchange, run),
    created: Math.floor(host.settings.clock.now() / 1000),
    model,
    request,
    run,
    fault,
    namedTool: typeof asked.toolChoice === "object",
  };
  const encoder = exchange.path === "/v1/chat/completions" ? host.dialect.chat(call) : host.dialect.completion(call);
  delivery = new Delivery(host, response, call, encoder);
}

/** The caller's request id, as vLLM takes it over, else one that follows from the request. */
function idOf({ request }: Exchange, run: Run): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" ? given : run.seed.toString(16).padStart(8, "0");
}
