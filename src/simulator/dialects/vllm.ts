// After vLLM's entrypoints/openai/chat_completion/{serving,protocol}.py and renderers/params.py of 2026.
import { EngineError } from "../engine-error.ts";
import { type Figure, prometheus } from "../http/metrics.ts";
import { sendJson } from "../http/reply.ts";
import { tokenize } from "../http/tokenize.ts";
import type { Call, Dialect, Encoder } from "./dialect.ts";
import { callsOf, countsOf, reasoningTokens, textOf } from "./usage.ts";

/** The dialect of vLLM with reasoning and tool parsers and `--enable-prompt-tokens-details`. */
export const vllm: Dialect = {
  name: "vllm",
  version: "0.28.0",
  done: true,
  chat: (call) => new Chat(call),
  completion: (call) => new Completion(call),
  error: ({ status, message, type, param }) => ({
    error: { message, type: type ?? typeOf(status), param: param ?? null, code: status },
  }),
  overloaded: () =>
    new EngineError(503, "The server is overloaded, please retry later.", { type: "ServiceUnavailableError" }),
  loading: () => new EngineError(503, "Service Unavailable", { type: "ServiceUnavailableError" }),
  truncatesInputs: false,
  inputTooLong: (tokens, limit) => tooLong(tokens, 0, limit),
  routes: {
    "POST /tokenize": tokenize,
    "GET /v1/models": ({ host, response }) => {
      const created = Math.floor(host.settings.clock.now() / 1000);
      const data = Array.from(host.models.values(), ({ traits: { id, contextLength } }) => ({
        id,
        object: "model",
        created,
        owned_by: "vllm",
        root: id,
        parent: null,
        max_model_len: contextLength,
        permission: [],
      }));
      sendJson(response, 200, { object: "list", data });
    },
    "GET /health": ({ response }) => void response.writeHead(200).end(),
    "GET /version": ({ response }) => sendJson(response, 200, { version: vllm.version }),
    "GET /metrics": ({ host, response }) => {
      const text = prometheus(figures, host.models.values(), "model_name");
      const cache = Array.from(
        host.models.values(),
        ({ gpu }) => `vllm:cache_config_info{block_size="16",num_gpu_blocks="${gpu.kvTokens / 16}"} 1.0\n`,
      );
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
      response.end(`${text}# TYPE vllm:cache_config_info gauge\n${cache.join("")}`);
    },
  },
  fit(prompt, request, { traits: { contextLength } }) {
    const asked = request.maxTokens ?? 0;
    if (asked > contextLength) {
      const field = request.maxTokensField;
      const message =
        `${field}=${asked}cannot be greater than max_model_len=max_total_tokens=${contextLength}. ` +
        `Please request fewer output tokens. (parameter=${field}, value=${asked})`;
      throw new EngineError(400, message, { param: field });
    }
    const room = contextLength - asked;
    if (prompt.length > room || prompt.length === contextLength) throw tooLong(prompt.length, asked, contextLength);
    return { prompt, maxTokens: request.maxTokens ?? contextLength - prompt.length };
  },
};

/** vLLM stops counting one token past the limit. */
function tooLong(tokens: number, asked: number, contextLength: number): EngineError {
  const room = contextLength - asked;
  const counted = Math.min(tokens, room + 1);
  const message =
    `You passed ${counted} input tokens and requested ${asked} output tokens. However, the model's context ` +
    `length is only ${contextLength} tokens, resulting in a maximum input length of ${room} tokens. ` +
    `Please reduce the length of the input prompt. (parameter=input_tokens, value=${counted})`;
  return new EngineError(400, message, { param: "input_tokens" });
}

const figures: readonly Figure[] = [
  ["vllm:num_requests_running", "gauge", ({ running }) => running],
  ["vllm:num_requests_waiting", "gauge", ({ waiting }) => waiting],
  ["vllm:kv_cache_usage_perc", "gauge", ({ kvUsage }) => kvUsage],
  ["vllm:prompt_tokens_total", "counter", ({ promptTokens }) => promptTokens],
  ["vllm:generation_tokens_total", "counter", ({ generatedTokens }) => generatedTokens],
  ["vllm:prefix_cache_queries_total", "counter", ({ cacheQueries }) => cacheQueries],
  ["vllm:prefix_cache_hits_total", "counter", ({ cacheHits }) => cacheHits],
  ["vllm:num_preemptions_total", "counter", ({ preempted }) => preempted],
  ["vllm:request_success_total", "counter", ({ finished }) => finished],
];

function typeOf(status: number): string {
  if (status === 404) return "NotFoundError";
  if (status === 401) return "Unauthorized";
  if (status === 503) return "ServiceUnavailableError";
  return status < 500 ? "BadRequestError" : "InternalServerError";
}

class Chat implements Encoder {
  readonly #call: Call;
  readonly #head: string;
  #reasoning = 0;
  #calls = -1;

  constructor(call: Call) {
    this.#call = call;
    this.#head = `data: {"id":"chatcmpl-${call.id}","object":"chat.completion.chunk","created":${call.created},"model":${JSON.stringify(call.model.traits.id)},"choices":[`;
  }

  open(): string {
    const { request, run } = this.#call;
    const ids = request.returnTokenIds ? JSON.stringify(run.sequence.work.prompt) : "null";
    return `${this.#head}{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]${this.#running(0)},"prompt_token_ids":${ids},"prompt_text":null}\n\n`;
  }

  token(at: number): string {
    const { request, run } = this.#call;
    const { output } = run;
    if (output.kinds[at] === "reasoning") this.#reasoning++;
    const last = at === output.length - 1;
    const delta = this.#delta(at);
    // A parser that holds tokens back keeps vLLM from sending anything, unless ids were asked for.
    if (delta === undefined && !last && !request.returnTokenIds) return "";
    const finish = last ? `"${this.#finish()}","stop_reason":${stopReason(this.#call)}` : "null";
    const ids = request.returnTokenIds ? `[${output.ids[at]}]` : "null";
    return `${this.#head}{"index":0,"delta":${delta ?? "{}"},"logprobs":null,"finish_reason":${finish},"token_ids":${ids}}]${this.#running(at + 1)}}\n\n`;
  }

  close(): string {
    const { request, run } = this.#call;
    const usage = request.includeUsage ? usageOf(this.#call, run.output.length) : undefined;
    return usage === undefined ? "" : `${this.#head}],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  whole(): unknown {
    const call = this.#call;
    const { id, created, model, request, run } = call;
    const calls = callsOf(call);
    const content = textOf(call, "text");
    const message = {
      role: "assistant",
      content: content === "" && calls.length > 0 ? null : content,
      refusal: null,
      annotations: null,
      audio: null,
      function_call: null,
      ...(calls.length === 0
        ? {}
        : { tool_calls: calls.map(({ id, ...made }) => ({ id, type: "function", function: made })) }),
      reasoning: textOf(call, "reasoning") || null,
    };
    return {
      id: `chatcmpl-${id}`,
      object: "chat.completion",
      created,
      model: model.traits.id,
      choices: [
        {
          index: 0,
          message,
          logprobs: null,
          finish_reason: this.#finish(),
          stop_reason: run.output.stopSequence ?? null,
          token_ids: request.returnTokenIds ? run.output.ids : null,
        },
      ],
      service_tier: null,
      system_fingerprint: null,
      usage: usageOf(call, run.output.length),
      prompt_logprobs: null,
      prompt_token_ids: request.returnTokenIds ? run.sequence.work.prompt : null,
      kv_transfer_params: null,
    };
  }

  #delta(at: number): string | undefined {
    const { output } = this.#call.run;
    const text = output.texts[at] ?? "";
    switch (output.kinds[at]) {
      case "text":
        return `{"content":${JSON.stringify(text)}}`;
      case "reasoning":
        return `{"reasoning":${JSON.stringify(text)}}`;
      case "call": {
        const made = output.calls[++this.#calls];
        return `{"tool_calls":[{"id":${JSON.stringify(made?.id)},"type":"function","index":${this.#calls},"function":{"name":${JSON.stringify(made?.name)},"arguments":""}}]}`;
      }
      case "arguments":
        return `{"tool_calls":[{"index":${this.#calls},"function":{"arguments":${JSON.stringify(text)}}}]}`;
      default:
        return undefined;
    }
  }

  /** A tool demanded by name is no reason to finish, in vLLM. */
  #finish(): string {
    const { namedTool, run } = this.#call;
    return run.output.finish === "tool_calls" && namedTool ? "stop" : run.output.finish;
  }

  #running(produced: number): string {
    const { request, model } = this.#call;
    const counts = request.continuousUsage ? countsOf(this.#call, produced) : undefined;
    if (counts === undefined) return "";
    const details = model.traits.thinking.mode === "none" ? "null" : `{"reasoning_tokens":${this.#reasoning}}`;
    return `,"usage":{"prompt_tokens":${counts.prompt},"total_tokens":${counts.prompt + counts.completion},"completion_tokens":${counts.completion},"completion_tokens_details":${details}}`;
  }
}

class Completion implements Encoder {
  readonly #call: Call;
  readonly #head: string;

  constructor(call: Call) {
    this.#call = call;
    this.#head = `data: {"id":"cmpl-${call.id}","object":"text_completion","created":${call.created},"model":${JSON.stringify(call.model.traits.id)},"choices":[`;
  }

  open(): string {
    return "";
  }

  token(at: number): string {
    const { request, run } = this.#call;
    const { output } = run;
    const last = at === output.length - 1;
    if (output.kinds[at] === "silent" && !last && !request.returnTokenIds) return "";
    const finish = last ? `"${output.finish}"` : "null";
    const stop = last ? stopReason(this.#call) : "null";
    const ids = request.returnTokenIds ? `[${output.ids[at]}]` : "null";
    const counts = request.continuousUsage ? countsOf(this.#call, at + 1) : undefined;
    const usage =
      counts === undefined
        ? ""
        : `,"usage":{"prompt_tokens":${counts.prompt},"total_tokens":${counts.prompt + counts.completion},"completion_tokens":${counts.completion}}`;
    return `${this.#head}{"index":0,"text":${JSON.stringify(output.texts[at])},"logprobs":null,"finish_reason":${finish},"stop_reason":${stop},"token_ids":${ids}}]${usage}}\n\n`;
  }

  close(): string {
    const { request, run } = this.#call;
    const usage = request.includeUsage ? usageOf(this.#call, run.output.length) : undefined;
    return usage === undefined ? "" : `${this.#head}],"usage":${JSON.stringify(usage)}}\n\n`;
  }

  whole(): unknown {
    const { id, created, model, request, run } = this.#call;
    return {
      id: `cmpl-${id}`,
      object: "text_completion",
      created,
      model: model.traits.id,
      choices: [
        {
          index: 0,
          text: textOf(this.#call, "text"),
          logprobs: null,
          finish_reason: run.output.finish,
          stop_reason: run.output.stopSequence ?? null,
          token_ids: request.returnTokenIds ? run.output.ids : null,
          prompt_logprobs: null,
          prompt_token_ids: request.returnTokenIds ? run.sequence.work.prompt : null,
        },
      ],
      service_tier: null,
      system_fingerprint: null,
      usage: usageOf(this.#call, run.output.length),
      kv_transfer_params: null,
    };
  }
}

function usageOf(call: Call, produced: number) {
  const counts = countsOf(call, produced);
  if (counts === undefined) return undefined;
  const thinks = call.model.traits.thinking.mode !== "none";
  return {
    prompt_tokens: counts.prompt,
    total_tokens: counts.prompt + counts.completion,
    completion_tokens: counts.completion,
    prompt_tokens_details: { cached_tokens: counts.cached },
    ...(thinks ? { completion_tokens_details: { reasoning_tokens: reasoningTokens(call, produced) } } : {}),
  };
}

function stopReason(call: Call): string {
  return JSON.stringify(call.run.output.stopSequence ?? null);
}
