import {
  type Completion,
  type CompletionChoice,
  CompletionChunkSchema,
  type CreateCompletionRequest,
} from "#gen/tollgate/chat/v1/completion_pb.js";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { type GenerateRequest, Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { Answer } from "../http/core/answer.ts";
import { jsonEncoder } from "../http/json/encoder.ts";
import { textTemplate } from "../http/json/text-template.ts";
import { invalidField } from "../http/request/error.ts";
import type { EventEncoder } from "../http/response/sse.ts";
import { errorOf } from "./errors.ts";
import type { Head } from "./head.ts";
import { outputBound, samplingOf, stopsOf } from "./sampling.ts";
import { done, keepAlive } from "./stream.ts";
import { finishReasonOf, usageOf } from "./usage.ts";

/** The default of this format. */
const defaultMaxTokens = 16n;

const writeChunk = jsonEncoder(CompletionChunkSchema);

/** Translates a request to continue a bare text. Throws RequestError with the field's path. */
export function continueRequest(request: CreateCompletionRequest, requestId: string): GenerateRequest {
  if (request.echo) throw invalidField("echo", "must be false");
  if (request.suffix) throw invalidField("suffix", "must be empty: text cannot be inserted");
  const form = request.prompt?.form;
  return {
    $typeName: "tollgate.inference.v1.GenerateRequest",
    requestId,
    model: request.model,
    prompt: { case: "text", value: (form?.case === "texts" ? form.value.texts[0] : form?.value) ?? "" },
    maxOutputTokens: outputBound(request.maxTokens ?? defaultMaxTokens),
    sampling: samplingOf(request),
    thinking: Thinking.UNSPECIFIED,
    stopSequences: stopsOf(request.stop),
    whole: !request.stream,
  };
}

/** A whole answer. The format has no place for thinking, which is dropped. */
export function completion(head: Head, answer: Answer): Completion {
  return {
    $typeName: "tollgate.chat.v1.Completion",
    ...head,
    object: "text_completion",
    choices: [{ ...choice(answer.text), finishReason: finishReasonOf(answer.finishReason) }],
    usage: usageOf(answer.usage),
  };
}

/** Writes an answer as chunks of text, then finish reason, usage and [DONE]. */
export function completionStream(head: Head, rules: { readonly separateUsage: boolean }): EventEncoder {
  const chunk = (choices: CompletionChoice[], usage?: Completion["usage"]): string =>
    `data: ${writeChunk({
      $typeName: "tollgate.chat.v1.CompletionChunk",
      ...head,
      object: "text_completion",
      choices,
      ...(usage !== undefined && { usage }),
    })}\n\n`;

  const text = textTemplate((content) => chunk([choice(content)]));
  const write = ({ event }: GenerationEvent): string => {
    if (event.case === "text" && event.value !== "") return text(event.value);
    if (event.case !== "finished") return "";
    const last = { ...choice(""), finishReason: finishReasonOf(event.value.reason) };
    const usage = usageOf(event.value.usage);
    return (rules.separateUsage ? chunk([last]) + chunk([], usage) : chunk([last], usage)) + done;
  };

  return {
    keepAlive,
    fail: (error) => `data: ${errorOf(error).body}\n\n${done}`,
    encode: (events) => events.map(write).join(""),
  };
}

function choice(text: string): CompletionChoice {
  return { $typeName: "tollgate.chat.v1.CompletionChoice", index: 0, text };
}
