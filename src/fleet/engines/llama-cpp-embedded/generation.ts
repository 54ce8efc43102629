import { FinishReason, type GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { EngineOutput, EngineRequest, EngineUsage } from "../interface.ts";
import { StopSequences } from "../shared/answer/stop-sequences.ts";
import { writeSampling } from "../shared/sampling.ts";
import type { AnswerReader } from "./answer-reader.ts";
import type { GrammarState, Model, SamplingOptions, Sequence, Token } from "./binding.ts";
import { Detokenizer } from "./detokenizer.ts";

/** Prompt tokens that are read in one step. An abort is noticed between steps. */
const prefillStep = 256;

/** Runs a generation on a sequence of its own. A grammar restricts the tokens that are produced. */
export async function* generation(
  model: Model,
  sequence: Sequence,
  prompt: Token[],
  request: Pick<EngineRequest, "maxOutputTokens" | "sampling" | "stopSequences">,
  answer: AnswerReader,
  grammar: GrammarState | undefined,
  signal: AbortSignal,
): AsyncGenerator<EngineOutput> {
  const cachedInputTokens = await readPrompt(sequence, prompt, signal);
  const usage = (outputTokens: number): EngineUsage => ({
    inputTokens: prompt.length,
    outputTokens,
    cachedInputTokens,
  });
  const stops = new StopSequences(request.stopSequences);
  const text = new Detokenizer(model);
  const produced: Token[] = [];
  yield { events: [], usage: usage(0) };
  for await (const token of sequence.evaluate(prompt.slice(-1), samplingOptions(request.sampling, produced, grammar))) {
    signal.throwIfAborted();
    produced.push(token);
    const ended = model.isEogToken(token);
    const events: GenerationEvent[] = [];
    if (!ended) {
      answer.push(stops.push(text.push(token)), events);
    }
    const stopped = ended || stops.stopped || answer.complete;
    if (stopped || produced.length >= request.maxOutputTokens) {
      endAnswer(answer, stops, text, events);
      yield { events, usage: usage(produced.length), finish: toFinish(answer, stopped) };
      return;
    }
    yield { events, usage: usage(produced.length) };
  }
}

/** Emits the text that was held back. */
function endAnswer(answer: AnswerReader, stops: StopSequences, text: Detokenizer, events: GenerationEvent[]): void {
  if (!stops.stopped) {
    answer.push(stops.push(text.end()) + stops.end(), events);
  }
  answer.end(events);
}

function toFinish(answer: AnswerReader, stopped: boolean): FinishReason {
  if (!stopped) {
    return FinishReason.LENGTH;
  }
  return answer.called ? FinishReason.TOOL_CALLS : FinishReason.STOP;
}

/** Reads the prompt up to its last token. Returns how many tokens the sequence knew already. */
async function readPrompt(sequence: Sequence, prompt: Token[], signal: AbortSignal): Promise<number> {
  const last = prompt.length - 1;
  await sequence.adaptStateToTokens(prompt.slice(0, last), false);
  const known = sequence.nextTokenIndex;
  for (let at = known; at < last; at += prefillStep) {
    signal.throwIfAborted();
    await sequence.evaluateWithoutGeneratingNewTokens(prompt.slice(at, Math.min(at + prefillStep, last)));
  }
  signal.throwIfAborted();
  return known;
}

function samplingOptions(sampling: Sampling, produced: Token[], grammar: GrammarState | undefined): SamplingOptions {
  const { penalty = 1, presencePenalty, frequencyPenalty, ...options } = writeSampling(sampling, "embedded");
  return {
    topK: 0,
    ...options,
    ...((penalty !== 1 || presencePenalty || frequencyPenalty) && {
      repeatPenalty: {
        punishTokens: () => produced,
        penalty,
        ...(presencePenalty && { presencePenalty }),
        ...(frequencyPenalty && { frequencyPenalty }),
      },
    }),
    yieldEogToken: true,
    ...(grammar && { grammarEvaluationState: grammar }),
  };
}
