import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { PromptCache } from "../../fleet/routing/simulation/prompt-cache.ts";
import { cacheTokens, prefillMs, stepMs } from "../../fleet/routing/simulation/simulate.ts";
import { pause } from "../../support/pause.ts";

interface ChatRequest {
  readonly model: string;
  readonly messages: readonly { readonly content: string | readonly { readonly text: string }[] }[];
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
  readonly stream?: boolean;
}

/**
 * An inference server as the simulated ones are, over HTTP in vLLM's dialect: it keeps the turns that it has read, tells
 * how many tokens of a prompt were among them, and takes the time that reading and writing take, `speed` times faster.
 */
export class CachingEngine implements AsyncDisposable {
  /** Requests that it was sent. */
  requests = 0;
  readonly #server: Server;
  readonly #cache = new PromptCache(cacheTokens);
  readonly #model: string;
  readonly #speed: number;
  #readingUntil = 0;

  private constructor(model: string, speed: number) {
    this.#model = model;
    this.#speed = speed;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(model: string, speed: number): Promise<CachingEngine> {
    const engine = new CachingEngine(model, speed);
    engine.#server.listen(0, "127.0.0.1");
    await once(engine.#server, "listening");
    return engine;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const json = (value: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    switch (request.url) {
      case "/v1/chat/completions":
        await this.#complete(JSON.parse(body.toString()) as ChatRequest, response);
        break;
      case "/v1/models":
        json({
          object: "list",
          data: [{ id: this.#model, object: "model", owned_by: "bench", max_model_len: 131_072 }],
        });
        break;
      case "/version":
        json({ version: "0.22.0" });
        break;
      default:
        response.end();
    }
  }

  async #complete(request: ChatRequest, response: ServerResponse): Promise<void> {
    this.requests++;
    const turns = request.messages.map(({ content }) => {
      const text = typeof content === "string" ? content : content.map((part) => part.text).join("");
      return { id: createHash("sha256").update(text).digest("base64"), tokens: text.length / 4 };
    });
    const prompt = turns.reduce((sum, { tokens }) => sum + tokens, 0);
    const cached = this.#cache.match(turns);
    const output = request.max_completion_tokens ?? request.max_tokens ?? 1;
    const now = performance.now();
    this.#readingUntil = Math.max(now, this.#readingUntil) + ((prompt - cached) * prefillMs) / this.#speed;
    await pause(this.#readingUntil - now, "the engine reads");
    this.#cache.add(turns);
    await pause((output * stepMs) / this.#speed, "the engine writes");
    const usage = {
      ...{ prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
      prompt_tokens_details: { cached_tokens: cached },
    };
    const head = { id: "chatcmpl-bench", created: 1_767_225_600, model: this.#model };
    const content = " word".repeat(output);
    const end = { index: 0, logprobs: null, finish_reason: "length" };
    if (request.stream !== true) {
      const choices = [{ ...end, message: { role: "assistant", content, reasoning: null, tool_calls: [] } }];
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...head, object: "chat.completion", choices, usage }));
      return;
    }
    const chunk = (rest: object) =>
      `data: ${JSON.stringify({ ...head, object: "chat.completion.chunk", ...rest })}\n\n`;
    response.setHeader("content-type", "text/event-stream; charset=utf-8");
    response.write(chunk({ choices: [{ ...end, delta: { role: "assistant", content } }] }));
    response.end(`${chunk({ choices: [], usage })}data: [DONE]\n\n`);
  }
}
