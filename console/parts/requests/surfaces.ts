/** What a person chose to send. */
export interface Choice {
  readonly surface: SurfaceName;
  readonly model: string;
  readonly prompt: string;
  readonly maxTokens: number;
  readonly isStreamed: boolean;
  /** Whether the model is asked to think; undefined leaves it to the model. */
  readonly isThinking: boolean | undefined;
}

export type SurfaceName = "chat" | "messages";

/** A piece of an answer. */
export interface Piece {
  readonly text?: string;
  readonly thinking?: string;
}

/** One of the two public surfaces. */
export interface Surface {
  readonly name: string;
  readonly path: string;
  readonly headers: (apiKey: string) => Readonly<Record<string, string>>;
  readonly body: (choice: Choice) => object;
  /** What an event of a stream, or a whole answer, adds. */
  readonly read: (data: Json) => Piece;
  /** What is wrong, of a body that says so. */
  readonly error: (body: Json) => string | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are shown as they come; what is missing reads as undefined.
export type Json = any;

const chat: Surface = {
  name: "Chat completions",
  path: "/v1/chat/completions",
  headers: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  body: ({ model, prompt, maxTokens, isStreamed, isThinking }) => ({
    model,
    messages: [{ role: "user", content: prompt }],
    max_completion_tokens: maxTokens,
    ...(isThinking === undefined ? {} : { reasoning_effort: isThinking ? "medium" : "none" }),
    ...(isStreamed ? { stream: true, stream_options: { include_usage: true } } : {}),
  }),
  read: (data) => {
    const choice = data?.choices?.[0];
    const part = choice?.delta ?? choice?.message;
    return { text: part?.content ?? "", thinking: part?.reasoning_content ?? part?.reasoning ?? "" };
  },
  error: (body) => body?.error?.message,
};

const messages: Surface = {
  name: "Messages",
  path: "/v1/messages",
  headers: (apiKey) => ({ "x-api-key": apiKey, "anthropic-version": "2023-06-01" }),
  body: ({ model, prompt, maxTokens, isStreamed, isThinking }) => ({
    model,
    max_tokens: maxTokens,
    messages: [{ role: "user", content: prompt }],
    ...(isThinking === undefined ? {} : { thinking: toThinking(isThinking, maxTokens) }),
    ...(isStreamed ? { stream: true } : {}),
  }),
  read: (data) => {
    const blocks: Json[] = data?.delta ? [data.delta] : (data?.content ?? []);
    return {
      text: blocks.map((block) => block?.text ?? "").join(""),
      thinking: blocks.map((block) => block?.thinking ?? "").join(""),
    };
  },
  error: (body) => body?.error?.message,
};

/** The surface wants a budget of at least this, and below the longest answer. */
const leastThinking = 1024;

function toThinking(isThinking: boolean, maxTokens: number) {
  return isThinking
    ? { type: "enabled", budget_tokens: Math.max(leastThinking, Math.floor(maxTokens / 2)) }
    : { type: "disabled" };
}

export const surfaces: Readonly<Record<SurfaceName, Surface>> = { chat, messages };
