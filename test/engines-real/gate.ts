import type { EngineName } from "#lib/inference/engine-names.ts";
import { eventually } from "../support/eventually.ts";
import { createSite, freePorts, startTollgate, type Tollgate } from "../support/tollgate.ts";
import { type Counts, callText } from "./told.ts";

/** A surface on which clients ask. */
export type Surface = "chat" | "messages";

/** What is asked, on either surface. */
export interface Question {
  /** Turns of user and assistant in turn, the first of the user. */
  readonly turns: readonly string[];
  readonly stream?: boolean;
  readonly maxTokens?: number;
  readonly thinking?: boolean;
  readonly stop?: string;
  readonly tools?: boolean;
  readonly signal?: AbortSignal;
  /** Whether something stands between Tollgate and the engine that sees and keeps what passes. */
  readonly seen?: boolean;
}

/** What came of it at the client. */
export interface Answer {
  readonly status: number;
  readonly requestId: string;
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly string[];
  readonly counts: Counts | undefined;
  readonly finish: string | undefined;
  /** Seconds until a retry is worth it. Null: none is told. */
  readonly retryAfter: string | null;
  /** The error's words. Undefined: it was answered. */
  readonly error: string | undefined;
}

/** A receipt, as the command prints it. */
export interface Receipt {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly status: string;
}

/** Tollgate before an engine, with an account that has money. */
export interface Gate extends AsyncDisposable {
  readonly tollgate: Tollgate;
  /** Asks and reads the answer; pieces of it go to `onPiece` as they come. */
  ask(surface: Surface, question: Question, onPiece?: (text: string) => void): Promise<Answer>;
  post(path: string, body: object, signal?: AbortSignal): Promise<Response>;
  /** Undefined: nothing was charged. */
  receipt(requestId: string): Promise<Receipt | undefined>;
  /** What `check` says of the configuration, and whether it is content. */
  check(): Promise<{ readonly ok: boolean; readonly text: string }>;
}

/** Models whose servers Tollgate reaches with nothing between, as in use. */
export const modelId = "tiny-chat";
export const embedderId = "tiny-embedding";
/** The same behind something that keeps the engine's bytes. */
export const seenModelId = "tiny-chat-seen";
export const seenEmbedderId = "tiny-embedding-seen";

/** Requests that a server takes at once. */
export const capacity = 4;

/** The servers that Tollgate has. */
export interface Servers {
  readonly engine: EngineName;
  readonly chat: Placed & { readonly contextLength: number };
  readonly embedding?: Placed;
}

/** A server by its own address and by that of what stands before it. */
interface Placed {
  readonly url: string;
  readonly seenUrl: string;
  /** The model by its own name. */
  readonly name: string;
}

export async function startGate({ engine, chat, embedding }: Servers): Promise<Gate> {
  const chatModel = (id: string, url: string) => ({
    id,
    context_length: chat.contextLength,
    thinking: { mode: "default_on" },
    price: { input: "1", output: "1" },
    servers: [{ url, engine, model: chat.name, capacity }],
  });
  const embedder = (id: string, url: string) => ({
    id,
    kind: "embedding",
    context_length: 8192,
    price: { input: "1" },
    servers: [{ url, engine, model: embedding?.name }],
  });
  const site = await createSite({ TOLLGATE_OPERATOR_TOKEN: "operator-token-of-the-real-engines" });
  const config = await site.configure({
    ...freePorts,
    free_tier: { grant_usd: "0" },
    rate_tiers: [{ paid_usd: 0, rpm: 100_000 }],
    fleet: { health_interval_s: 1, first_token_timeout_s: 300 },
    models: [
      chatModel(modelId, chat.url),
      chatModel(seenModelId, chat.seenUrl),
      ...(embedding === undefined
        ? []
        : [embedder(embedderId, embedding.url), embedder(seenEmbedderId, embedding.seenUrl)]),
    ],
  });
  const tollgate = await startTollgate(site, "serve", "--config", config);
  const { id } = (await tollgate.admin("accounts", "create")) as { id: string };
  await tollgate.admin("accounts", "top-up", id, "--usd", "100", "--ref", "engines");
  const { key } = (await tollgate.admin("keys", "create", id)) as { key: string };
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const post = (path: string, body: object, signal?: AbortSignal) =>
    fetch(tollgate.url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: signal ?? AbortSignal.timeout(300_000),
    });
  await eventually("the engine is healthy", async () => {
    const words = { messages: [{ role: "user", content: "Hi" }], max_tokens: 1 };
    for (const model of [modelId, seenModelId]) {
      const response = await post("/v1/chat/completions", { model, ...words });
      await response.arrayBuffer();
      if (response.status !== 200) {
        return false;
      }
    }
    return true;
  });
  return {
    tollgate,
    post,
    async ask(surface, question, onPiece) {
      const path = surface === "chat" ? "/v1/chat/completions" : "/v1/messages";
      const body = surface === "chat" ? toChat(question) : toMessages(question);
      return read(await post(path, body, question.signal), surface, onPiece);
    },
    async receipt(requestId) {
      try {
        return (await tollgate.admin("receipt", requestId)) as Receipt;
      } catch {
        return undefined;
      }
    },
    async check() {
      const { runHere } = await import("../support/run-here.ts");
      const { code, output, notes } = await runHere(["check", "--config", config], site.env);
      return { ok: code === 0, text: `${output}\n${notes}` };
    },
    async [Symbol.asyncDispose]() {
      await tollgate.stop();
      await site.remove();
    },
  };
}

const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const role = (_: string, index: number) => (index % 2 === 0 ? "user" : "assistant");

function toChat({ turns, stream, maxTokens = 200, thinking, stop, tools, seen }: Question): object {
  return {
    model: seen ? seenModelId : modelId,
    messages: turns.map((content, index) => ({ role: role(content, index), content })),
    max_tokens: maxTokens,
    temperature: 0,
    stream,
    ...(thinking !== undefined && { reasoning_effort: thinking ? "high" : "none" }),
    ...(stop !== undefined && { stop: [stop] }),
    ...(tools && { tools: [{ type: "function", function: { name: "weather", parameters } }] }),
  };
}

function toMessages({ turns, stream, maxTokens = 200, thinking, stop, tools, seen }: Question): object {
  return {
    model: seen ? seenModelId : modelId,
    messages: turns.map((content, index) => ({ role: role(content, index), content })),
    max_tokens: maxTokens,
    temperature: 0,
    stream,
    ...(thinking !== undefined && {
      thinking: thinking ? { type: "enabled", budget_tokens: 1024 } : { type: "disabled" },
    }),
    ...(stop !== undefined && { stop_sequences: [stop] }),
    ...(tools && { tools: [{ name: "weather", input_schema: parameters }] }),
  };
}

async function read(response: Response, surface: Surface, onPiece?: (text: string) => void): Promise<Answer> {
  const requestId = response.headers.get("x-request-id") ?? "";
  const answer = new Reading();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  let broke: string | undefined;
  if (isStream) {
    let rest = "";
    try {
      for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const lines = (rest + piece).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines.filter((one) => one.startsWith("data: {"))) {
          answer.add(JSON.parse(line.slice(6)), surface);
        }
        onPiece?.(answer.text);
      }
    } catch (error) {
      broke = `broken off: ${error}`;
    }
  } else {
    answer.add(await response.json(), surface);
  }
  const retryAfter = response.headers.get("retry-after");
  return { status: response.status, requestId, retryAfter, ...answer, error: answer.error ?? broke };
}

/** Puts the pieces of an answer together. */
class Reading {
  text = "";
  reasoning = "";
  calls: string[] = [];
  counts: Counts | undefined;
  finish: string | undefined;
  error: string | undefined;
  #names: string[] = [];
  #arguments: string[] = [];

  // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
  add(piece: any, surface: Surface): void {
    if (piece.error) {
      this.error = piece.error.message;
    } else if (surface === "chat") {
      this.#addChunk(piece);
    } else {
      this.#addEvent(piece);
    }
    this.calls = this.#names.map((name, index) => name + (this.#arguments[index] ?? ""));
  }

  // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
  #addChunk({ choices = [], usage }: any): void {
    const [choice] = choices;
    const part = choice?.delta ?? choice?.message ?? {};
    this.text += part.content ?? choice?.text ?? "";
    this.reasoning += part.reasoning ?? "";
    for (const [at, { index = at, function: called }] of (part.tool_calls ?? []).entries()) {
      this.#addCall(index, called.name, called.arguments);
    }
    this.finish = choice?.finish_reason ?? this.finish;
    this.counts = usage ? { input: usage.prompt_tokens, output: usage.completion_tokens } : this.counts;
  }

  // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
  #addEvent(event: any): void {
    const { type, index, delta = {}, content_block: block } = event;
    if (type === "message") {
      for (const [at, part] of event.content.entries()) {
        this.#addBlock(part, at);
      }
    } else if (block) {
      this.#addBlock({ ...block, input: undefined }, index);
    }
    this.text += delta.text ?? "";
    this.reasoning += delta.thinking ?? "";
    if (delta.partial_json) {
      this.#addCall(this.#names.length - 1, undefined, delta.partial_json);
    }
    this.finish = delta.stop_reason ?? event.stop_reason ?? this.finish;
    const usage = event.usage ?? event.message?.usage;
    if (usage) {
      this.counts = {
        input: usage.input_tokens ?? this.counts?.input ?? 0,
        output: usage.output_tokens ?? this.counts?.output ?? 0,
      };
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
  #addBlock(part: any, _index: number): void {
    this.text += part.text ?? "";
    this.reasoning += part.thinking ?? "";
    if (part.type === "tool_use") {
      this.#addCall(this.#names.length, part.name, part.input && JSON.stringify(part.input));
    }
  }

  #addCall(index: number, name: string | undefined, given: string | undefined): void {
    this.#names[index] ??= "";
    this.#arguments[index] ??= "";
    this.#names[index] += name ?? "";
    this.#arguments[index] += given ?? "";
  }
}

/** A client's tool call in the form of `told.ts`. */
export function normalCall(call: string): string {
  const [, name = "", given = ""] = /^([^{]*)(\{.*)$/s.exec(call) ?? [];
  return name === "" ? call : callText(name, given);
}
