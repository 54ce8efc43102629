import {
  type Completion,
  type CompletionChoice,
  CompletionChunkSchema,
  type CreateCompletionRequest,
} from "#gen/tollgate/chat/v1/completion_pb.js";
import type { FinishReason, GenerationEvent, Usage } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { type GenerateRequest, Thinking } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import type { Answer } from "../http/core/answer.ts";
import { jsonEncoder } from "../http/json/encoder.ts";
import { textTemplate } from "../http/json/text-template.ts";
import type { EventEncoder } from "../http/response/sse.ts";
import { errorOf } from "./errors.ts";
import { outputBound, toSampling, toStopSequences } from "./request/sampling.ts";
import type { Head } from "./response/head.ts";
import { done, keepAlive } from "./response/stream.ts";
import { toFinishReason, toUsage } from "./response/usage.ts";

/** The default of this format. */
const defaultMaxTokens = 16n;

const writeChunk = jsonEncoder(CompletionChunkSchema);

/** Translates a request to continue a plain text. Throws RequestError with the field's path. */
export function continueRequest(
  request: CreateCompletionRequest,
  requestId: string,
  labels: GenerateRequest["labels"],
  session?: string,
): GenerateRequest {
  return {
    $typeName: "tollgate.inference.v1.GenerateRequest",
    requestId,
    model: request.model,
    prompt: toPrompt(request),
    maxOutputTokens: outputBound(request.maxTokens ?? defaultMaxTokens),
    sampling: toSampling(request),
    thinking: Thinking.UNSPECIFIED,
    stopSequences: toStopSequences(request.stop),
    gathered: !request.stream,
    serviceClass: ServiceClass.UNSPECIFIED,
    labels,
    ...(session !== undefined && { session }),
  };
}

/** The number of texts to continue. */
export function promptCount({ prompt }: CreateCompletionRequest): number {
  return prompt?.form.case === "texts" ? prompt.form.value.texts.length : 1;
}

/** Translates the prompt. An array of one text counts as a single text. */
function toPrompt({ prompt }: CreateCompletionRequest): GenerateRequest["prompt"] {
  const form = prompt?.form;
  if (form?.case !== "texts") {
    return { case: "text", value: form?.value ?? "" };
  }
  const { texts } = form.value;
  if (texts.length === 1) {
    return { case: "text", value: texts[0] ?? "" };
  }
  return { case: "texts", value: { $typeName: "tollgate.inference.v1.TextBatch", texts } };
}

/** Translates complete answers, one choice each. The format has no place for thinking, which is dropped. */
export function completion(head: Head, answers: readonly Answer[], withLots = false): Completion {
  const choices = answers.map(({ text, finishReason }, index) => ({
    ...choice(index, text),
    finishReason: toFinishReason(finishReason),
  }));
  const usage = toUsage(sumOfUsage(answers.map((answer) => answer.usage)), withLots);
  return { $typeName: "tollgate.chat.v1.Completion", ...head, object: "text_completion", choices, usage };
}

/** Writes answers as chunks of text, each with its answer's index, then the usage of all answers, and [DONE]. */
export function completionStream(
  head: Head,
  rules: { readonly separateUsage: boolean; readonly answers: number; readonly withLots?: boolean },
): EventEncoder {
  const chunk = (choices: CompletionChoice[], usage?: Completion["usage"]): string =>
    `data: ${writeChunk({
      $typeName: "tollgate.chat.v1.CompletionChunk",
      ...head,
      object: "text_completion",
      choices,
      ...(usage !== undefined && { usage }),
    })}\n\n`;

  const texts = Array.from({ length: rules.answers }, (_, index) =>
    textTemplate((content) => chunk([choice(index, content)])),
  );
  const counted: Usage[] = [];

  const end = (index: number, reason: FinishReason, used: Usage | undefined): string => {
    if (used !== undefined) {
      counted.push(used);
    }
    const last = { ...choice(index, ""), finishReason: toFinishReason(reason) };
    if (counted.length < rules.answers) {
      return chunk([last]);
    }
    const usage = toUsage(sumOfUsage(counted), rules.withLots);
    return (rules.separateUsage ? chunk([last]) + chunk([], usage) : chunk([last], usage)) + done;
  };

  const write = ({ event }: GenerationEvent, index: number): string => {
    if (event.case === "text" && event.value !== "") {
      return texts[index]?.(event.value) ?? "";
    }
    return event.case === "finished" ? end(index, event.value.reason, event.value.usage) : "";
  };

  return {
    keepAlive,
    fail: (error) => `data: ${errorOf(error).body}\n\n${done}`,
    encode: (events, index = 0) => events.map((event) => write(event, index)).join(""),
  };
}

function choice(index: number, text: string): CompletionChoice {
  return { $typeName: "tollgate.chat.v1.CompletionChoice", index, text };
}

/** The total usage of several answers. A count that no engine reported is left out. */
function sumOfUsage(usages: readonly Usage[]): Usage {
  const total: Usage = { $typeName: "tollgate.inference.v1.Usage", inputTokens: 0n, outputTokens: 0n, lots: [] };
  for (const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens, costPicoUsd, lots } of usages) {
    total.inputTokens += inputTokens;
    total.outputTokens += outputTokens;
    if (costPicoUsd !== undefined) {
      total.costPicoUsd = (total.costPicoUsd ?? 0n) + costPicoUsd;
    }
    total.lots.push(...lots);
    if (reasoningTokens !== undefined) {
      total.reasoningTokens = (total.reasoningTokens ?? 0n) + reasoningTokens;
    }
    if (cachedInputTokens !== undefined) {
      total.cachedInputTokens = (total.cachedInputTokens ?? 0n) + cachedInputTokens;
    }
  }
  return total;
}
