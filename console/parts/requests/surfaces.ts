import type { CallPiece, ToolCall } from "./tool-call.ts";

/** A tool that is offered to the model. */
export interface Tool {
  readonly name: string;
  readonly description?: string;
  /** JSON schema of its input. */
  readonly parameters: object;
}

/** An answer, and what the conversation went on with: results of the tools that it called, or what was said next. */
export interface Turn {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  /** One result for each call. */
  readonly results: readonly string[];
  /** What was said next. Empty: only results were given. */
  readonly reply: string;
}

/** The settings of a request. */
export interface Choice {
  readonly surface: SurfaceName;
  readonly model: string;
  /** What the model is told before the conversation. Empty: nothing. */
  readonly system: string;
  readonly prompt: string;
  readonly maxTokens: number;
  /** Undefined: that of the model. */
  readonly temperature: number | undefined;
  readonly isStreamed: boolean;
  /** Whether the model is asked to think. Undefined: the model decides. */
  readonly isThinking: boolean | undefined;
  /** Empty: no tools are offered. */
  readonly tools: readonly Tool[];
  /** The turns since the prompt. Empty: none. */
  readonly turns: readonly Turn[];
}

export type SurfaceName = "chat" | "messages";

/** A piece of an answer. */
export interface Piece {
  readonly text?: string;
  readonly thinking?: string;
  readonly calls?: readonly CallPiece[];
}

/** One of the two public surfaces. */
export interface Surface {
  readonly name: string;
  readonly path: string;
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>;
  readonly body: (choice: Choice) => object;
  /** The piece that an event of a stream, or a complete answer, adds. */
  readonly read: (data: Json) => Piece;
  /** The error message in a body. Undefined: it has none. */
  readonly error: (body: Json) => string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are shown as they come; what is missing reads as undefined.
export type Json = any;

const chat: Surface = {
  name: "Chat completions",
  path: "/v1/chat/completions",
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  body: ({ model, system, prompt, maxTokens, temperature, isStreamed, isThinking, tools, turns }) => ({
    model,
    messages: [
      ...(system === "" ? [] : [{ role: "system", content: system }]),
      { role: "user", content: prompt },
      ...turns.flatMap(toChatTurn),
    ],
    max_completion_tokens: maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(tools.length === 0 ? {} : { tools: tools.map((tool) => ({ type: "function", function: tool })) }),
    ...(isThinking === undefined ? {} : { reasoning_effort: isThinking ? "medium" : "none" }),
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  }),
  read: (data) => {
    const choice = data?.choices?.[0];
    const part = choice?.delta ?? choice?.message;
    const calls: Json[] = part?.tool_calls ?? [];
    return {
      text: part?.content ?? "",
      thinking: part?.reasoning_content ?? part?.reasoning ?? "",
      calls: calls.map((call, place) => ({
        index: call.index ?? place,
        id: call.id ?? "",
        name: call.function?.name ?? "",
        input: call.function?.arguments ?? "",
      })),
    };
  },
  error: (body) => body?.error?.message,
};

const messages: Surface = {
  name: "Messages",
  path: "/v1/messages",
  headers: (apiKey) => ({ "x-api-key": apiKey, "anthropic-version": "2023-06-01" }),
  body: ({ model, system, prompt, maxTokens, temperature, isStreamed, isThinking, tools, turns }) => ({
    model,
    max_tokens: maxTokens,
    ...(system === "" ? {} : { system }),
    ...(temperature === undefined ? {} : { temperature }),
    messages: [{ role: "user", content: prompt }, ...turns.flatMap(toMessagesTurn)],
    ...(tools.length === 0
      ? {}
      : { tools: tools.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })) }),
    ...(isThinking === undefined ? {} : { thinking: toThinking(isThinking, maxTokens) }),
    ...(isStreamed ? { stream: true } : {}),
  }),
  read: (data) => {
    const part = data?.delta ?? data?.content_block;
    const blocks: Json[] = part ? [part] : (data?.content ?? []);
    return {
      text: blocks.map((block) => block?.text ?? "").join(""),
      thinking: blocks.map((block) => block?.thinking ?? "").join(""),
      calls: blocks.flatMap((block, place) => toCallPieces(block, data?.index ?? place)),
    };
  },
  error: (body) => body?.error?.message,
};

/** The surface requires a thinking budget of at least this, and less than the longest answer. */
const leastThinking = 1024;

function toThinking(isThinking: boolean, maxTokens: number) {
  return isThinking
    ? { type: "enabled", budget_tokens: Math.max(leastThinking, Math.floor(maxTokens / 2)) }
    : { type: "disabled" };
}

export const surfaces: Readonly<Record<SurfaceName, Surface>> = { chat, messages };

/** What a surface is called by people. */
export function nameOfSurface(surface: string): string {
  return surface === "grpc" ? "gRPC" : (surfaces[surface as SurfaceName]?.name ?? surface);
}

function toChatTurn({ text, calls, results, reply }: Turn): object[] {
  const made = calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: input } }));
  const called = made.length === 0 ? {} : { tool_calls: made };
  return [
    { role: "assistant", content: text === "" && made.length > 0 ? null : text, ...called },
    ...calls.map(({ id }, index) => ({ role: "tool", tool_call_id: id, content: results[index] ?? "" })),
    ...(reply === "" ? [] : [{ role: "user", content: reply }]),
  ];
}

function toMessagesTurn({ text, calls, results, reply }: Turn): object[] {
  const said = text === "" ? [] : [{ type: "text", text }];
  const made = calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input: JSON.parse(input || "{}") }));
  const given = calls.map(({ id }, index) => ({ type: "tool_result", tool_use_id: id, content: results[index] ?? "" }));
  return [
    { role: "assistant", content: [...said, ...made] },
    { role: "user", content: [...given, ...(reply === "" ? [] : [{ type: "text", text: reply }])] },
  ];
}

/**
 * Reads a tool call. A stream sends the name first and then the input in pieces; a gathered answer has both at once.
 */
function toCallPieces(block: Json, index: number): readonly CallPiece[] {
  if (block?.type === "input_json_delta") {
    return [{ index, input: block.partial_json ?? "" }];
  }
  if (block?.type !== "tool_use") {
    return [];
  }
  const isWhole = Object.keys(block.input ?? {}).length > 0;
  return [{ index, id: block.id, name: block.name, input: isWhole ? JSON.stringify(block.input) : "" }];
}
