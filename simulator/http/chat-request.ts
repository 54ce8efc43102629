import type { Limits } from "../engine/answer.ts";
import type { Message, Tool, ToolCall } from "../engine/text/chat-template.ts";
import type { ThinkingSwitch } from "../engine/thinking.ts";
import type { ToolChoice } from "../engine/tool-choice.ts";
import { EngineError } from "../engine-error.ts";

/** A JSON object of a request. */
export type Json = Readonly<Record<string, unknown>>;

/** The common fields of chat and text completions. */
export interface SamplingRequest {
  readonly model: string | undefined;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
  /** Whether to send llama.cpp's running usage. */
  readonly timings: boolean;
  readonly returnTokenIds: boolean;
  /** vLLM's tokens a piece. */
  readonly streamInterval: number;
  /** Undefined: as many as the context leaves. */
  readonly maxTokens: number | undefined;
  /** The field that set `maxTokens`. */
  readonly maxTokensField: string;
  readonly limits: Omit<Limits, "maxTokens">;
  readonly seed: number | undefined;
  readonly cacheSalt: string | undefined;
  /** Ollama's option for a prompt that is too long. */
  readonly truncate: boolean | undefined;
}

/** A request to `/v1/chat/completions`, read as leniently as engines do. */
export interface ChatRequest extends SamplingRequest {
  readonly messages: readonly Message[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  readonly thinking: ThinkingSwitch;
  readonly continueFinal: boolean;
}

export function readSampling(body: Json): SamplingRequest {
  const options = object(body.stream_options);
  const field = typeof body.max_completion_tokens === "number" ? "max_completion_tokens" : "max_tokens";
  const maxTokens = body[field];
  if (typeof maxTokens === "number" && maxTokens < 1) {
    throw new EngineError(400, `${field} must be at least 1, got ${maxTokens}.`, { param: field });
  }
  return {
    model: text(body.model),
    stream: body.stream === true,
    includeUsage: options?.include_usage === true,
    continuousUsage: options?.include_usage === true && options.continuous_usage_stats === true,
    timings: body.timings_per_token === true,
    returnTokenIds: body.return_token_ids === true,
    streamInterval: typeof body.stream_interval === "number" ? body.stream_interval : 1,
    maxTokens: typeof maxTokens === "number" ? maxTokens : undefined,
    maxTokensField: field,
    limits: {
      minTokens: typeof body.min_tokens === "number" ? body.min_tokens : 0,
      ignoreEnd: body.ignore_eos === true,
      stop: stopSequences(body.stop),
      keepStop: body.include_stop_str_in_output === true || body.no_stop_trim === true,
    },
    seed: typeof body.seed === "number" ? body.seed : undefined,
    cacheSalt: text(body.cache_salt),
    truncate: typeof body.truncate === "boolean" ? body.truncate : undefined,
  };
}

export function readChat(body: Json): ChatRequest {
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    throw new EngineError(400, "messages must be a non-empty array", { param: "messages" });
  }
  const template = object(body.chat_template_kwargs);
  const enabled = template?.enable_thinking ?? template?.thinking;
  return {
    ...readSampling(body),
    messages: body.messages.map(readMessage),
    tools: Array.isArray(body.tools) ? body.tools.map(readTool) : [],
    toolChoice: readToolChoice(body.tool_choice),
    parallelCalls: body.parallel_tool_calls !== false,
    thinking: {
      enabled: typeof enabled === "boolean" ? enabled : undefined,
      effort: text(template?.reasoning_effort) ?? text(body.reasoning_effort),
    },
    continueFinal: body.continue_final_message === true,
  };
}

/** A message with its content as one string. */
export function readMessage(value: unknown, index = 0): Message {
  const message = object(value);
  const role = text(message?.role);
  if (message === undefined || role === undefined) {
    throw new EngineError(400, `messages.${index}.role: Field required`, { param: "messages" });
  }
  const reasoning = text(message.reasoning) ?? text(message.reasoning_content);
  const calls = Array.isArray(message.tool_calls) ? message.tool_calls.map(readCall) : [];
  return {
    role,
    content: readContent(message.content, index),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(calls.length === 0 ? {} : { calls }),
  };
}

export function readTool(value: unknown): Tool {
  const tool = object(object(value)?.function);
  const name = text(tool?.name);
  if (tool === undefined || name === undefined) {
    throw new EngineError(400, "tools.0.function.name: Field required", { param: "tools" });
  }
  const description = text(tool.description);
  return { name, ...(description === undefined ? {} : { description }), parameters: tool.parameters };
}

export function object(value: unknown): Json | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function readContent(content: unknown, index: number): string {
  if (typeof content === "string") {
    return content;
  }
  if (content === null || content === undefined) {
    return "";
  }
  if (!Array.isArray(content)) {
    throw new EngineError(400, `messages.${index}.content: invalid`, { param: "messages" });
  }
  return content
    .map((part) => {
      const { type, text } = object(part) ?? {};
      if (type === "text" && typeof text === "string") {
        return text;
      }
      throw new EngineError(400, `Unknown part type: ${String(type)}`, { param: "messages" });
    })
    .join("");
}

function readCall(value: unknown): ToolCall {
  const call = object(value);
  const made = object(call?.function);
  return {
    id: text(call?.id) ?? "",
    name: text(made?.name) ?? "",
    arguments: text(made?.arguments) ?? JSON.stringify(made?.arguments ?? {}),
  };
}

function readToolChoice(value: unknown): ToolChoice {
  const name = text(object(object(value)?.function)?.name);
  if (name !== undefined) {
    return { name };
  }
  return value === "none" || value === "required" ? value : "auto";
}

function stopSequences(value: unknown): string[] {
  if (typeof value === "string") {
    return value === "" ? [] : [value];
  }
  return Array.isArray(value) ? value.filter((one) => typeof one === "string" && one !== "") : [];
}
