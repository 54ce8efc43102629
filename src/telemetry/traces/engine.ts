import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { TraceContext } from "#lib/rpc/trace-context.ts";
import type {
  Engine,
  EngineEmbedRequest,
  EngineOutput,
  EngineRequest,
  EngineUsage,
} from "#src/fleet/engines/interface.ts";
import { startSpan } from "./span.ts";

/** The name of an inference server in spans. */
interface TracedServer {
  readonly url: string;
  readonly engine: string;
}

/**
 * Makes a span for every generation and embedding sent to an engine, including retries, by the semantic conventions for
 * generative AI. No span contains prompts or answers.
 */
export function traceEngine(engine: Engine, server: TracedServer, tracer: Tracer): Engine {
  const url = URL.parse(server.url);
  const place: Attributes = {
    "gen_ai.provider.name": server.engine,
    ...(url?.hostname && { "server.address": url.hostname }),
    ...(url?.port && { "server.port": Number(url.port) }),
  };
  const start = (
    operation: string,
    request: { readonly model: string; readonly runId: string; readonly trace?: TraceContext },
    more: Attributes = {},
  ) => {
    const attributes = {
      "gen_ai.operation.name": operation,
      "gen_ai.request.model": request.model,
      "tollgate.run_id": request.runId,
      ...place,
      ...more,
    };
    const options = { kind: SpanKind.CLIENT, attributes };
    const { span, context } = startSpan(tracer, `${operation} ${request.model}`, options, request.trace ?? {});
    return { span, request: context === undefined ? {} : { trace: context } };
  };
  return {
    async *generate(request: EngineRequest, signal: AbortSignal): AsyncIterable<EngineOutput> {
      const operation = request.prompt.case === "text" ? "text_completion" : "chat";
      const call = start(operation, request, toSamplingAttributes(request));
      let usage: EngineUsage | undefined;
      let finish: FinishReason | undefined;
      try {
        for await (const output of engine.generate({ ...request, ...call.request }, signal)) {
          usage = output.usage ?? usage;
          finish = output.finish;
          yield output;
        }
      } catch (error) {
        if (!signal.aborted) {
          markFailed(call.span, error);
        }
        throw error;
      } finally {
        if (usage !== undefined) {
          markUsage(call.span, usage);
        }
        if (finish !== undefined) {
          call.span.setAttribute("gen_ai.response.finish_reasons", [FinishReason[finish].toLowerCase()]);
        }
        call.span.end();
      }
    },
    async embed(request: EngineEmbedRequest, signal: AbortSignal) {
      const call = start("embeddings", request);
      try {
        const answer = await engine.embed({ ...request, ...call.request }, signal);
        markUsage(call.span, { inputTokens: answer.inputTokens });
        return answer;
      } catch (error) {
        if (!signal.aborted) {
          markFailed(call.span, error);
        }
        throw error;
      } finally {
        call.span.end();
      }
    },
    countTokens: (request, signal) => engine.countTokens(request, signal),
    listModels: (signal) => engine.listModels(signal),
    checkHealth: (signal) => engine.checkHealth(signal),
    readLoad: (signal) => engine.readLoad(signal),
    close: () => engine.close(),
  };
}

function toSamplingAttributes({ maxOutputTokens, sampling }: EngineRequest): Attributes {
  return {
    "gen_ai.request.max_tokens": maxOutputTokens,
    ...(sampling.temperature !== undefined && { "gen_ai.request.temperature": sampling.temperature }),
    ...(sampling.topP !== undefined && { "gen_ai.request.top_p": sampling.topP }),
  };
}

function markUsage(span: Span, usage: Partial<EngineUsage>): void {
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens } = usage;
  if (inputTokens !== undefined) {
    span.setAttribute("gen_ai.usage.input_tokens", inputTokens);
  }
  if (outputTokens !== undefined) {
    span.setAttribute("gen_ai.usage.output_tokens", outputTokens);
  }
  if (reasoningTokens !== undefined) {
    span.setAttribute("gen_ai.usage.reasoning.output_tokens", reasoningTokens);
  }
  if (cachedInputTokens !== undefined) {
    span.setAttribute("gen_ai.usage.cache_read.input_tokens", cachedInputTokens);
  }
}

function markFailed(span: Span, error: unknown): void {
  const reason = readDetail(error)?.reason;
  span.setAttribute("error.type", reason === undefined ? "_OTHER" : Reason[reason]);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
