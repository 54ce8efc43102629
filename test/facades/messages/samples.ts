import * as fc from "fast-check";
import { FinishReason, type GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { args, call, finished, reasoning, started, text } from "./events.ts";
import type { DecodedAnswer } from "./response/stream-grammar.ts";

/** An answer, and its events in any order and any pieces that a core may produce. */
export interface Sample {
  answer: Omit<DecodedAnswer, "blocks">;
  batches: GenerationEvent[][];
}

const cuts = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 8 });

/** Cuts a text into pieces whose lengths follow the list, over and over. */
function pieces(whole: string, lengths: readonly number[]): string[] {
  const out: string[] = [];
  for (let at = 0, i = 0; at < whole.length; i++) {
    const length = lengths[i % lengths.length] ?? 1;
    out.push(whole.slice(at, at + length));
    at += length;
  }
  return out;
}

/** Any answers, as any canonical stream of events. */
export const samples: fc.Arbitrary<Sample> = fc
  .record({
    said: fc.array(fc.tuple(fc.boolean(), fc.string({ unit: "grapheme", maxLength: 12 })), { maxLength: 5 }),
    inputs: fc.array(fc.dictionary(fc.string({ maxLength: 4 }), fc.jsonValue({ maxDepth: 2 })), { maxLength: 4 }),
    spaced: fc.boolean(),
    cuts,
    batches: cuts,
    order: fc.infiniteStream(fc.nat({ max: 100 })),
    inputTokens: fc.nat(),
    outputTokens: fc.nat(),
    reasoningTokens: fc.option(fc.nat(), { nil: undefined }),
    reason: fc.constantFrom(FinishReason.STOP, FinishReason.TOOL_CALLS, FinishReason.CONTENT_FILTER),
  })
  .map((made) => {
    const said = made.said.flatMap(([thinks, words]) =>
      pieces(words, made.cuts).map((piece) => (thinks ? reasoning(piece) : text(piece))),
    );
    const calls = made.inputs.map((input, i) => [
      call(i),
      ...pieces(JSON.stringify(input, null, made.spaced ? 2 : 0), made.cuts).map((piece) => args(i, piece)),
    ]);
    const events = [
      started("r1", BigInt(made.inputTokens)),
      ...interleaved([said, ...calls], made.order),
      finished(made.reason, {
        inputTokens: BigInt(made.inputTokens),
        outputTokens: BigInt(made.outputTokens),
        reasoningTokens: made.reasoningTokens === undefined ? undefined : BigInt(made.reasoningTokens),
      }),
    ];
    const batches: GenerationEvent[][] = [];
    for (let at = 0, i = 0; at < events.length; i++) {
      const size = made.batches[i % made.batches.length] ?? 1;
      batches.push(events.slice(at, at + size));
      at += size;
    }
    return { answer: expectedOf(made), batches };
  });

/** Merges the lists at random; calls still begin in the order of their indices. */
function interleaved(lists: GenerationEvent[][], order: Iterator<number>): GenerationEvent[] {
  const [said = [], ...calls] = lists;
  const running = [said];
  const out: GenerationEvent[] = [];
  while (calls.length > 0 || running.some((list) => list.length > 0)) {
    const live = running.filter((list) => list.length > 0);
    const pick = (order.next().value ?? 0) % (live.length + (calls.length > 0 ? 1 : 0));
    const list = live[pick] ?? calls.shift() ?? [];
    if (live[pick] === undefined) {
      running.push(list);
    }
    out.push(...list.splice(0, 1));
  }
  return out;
}

/** The parts of a usage that only the original service has. */
export const notUsed = {
  service_tier: null,
  cache_creation: null,
  inference_geo: null,
  server_tool_use: null,
  speed: null,
  iterations: null,
  fallback_credit: null,
};

function expectedOf(made: {
  said: [boolean, string][];
  inputs: Record<string, unknown>[];
  inputTokens: number;
  outputTokens: number;
  reasoningTokens: number | undefined;
  reason: FinishReason;
}): Sample["answer"] {
  const words = (thinks: boolean) => made.said.flatMap(([kind, piece]) => (kind === thinks ? [piece] : [])).join("");
  const stopReasons = new Map([
    [FinishReason.STOP, "end_turn"],
    [FinishReason.TOOL_CALLS, "tool_use"],
    [FinishReason.CONTENT_FILTER, "refusal"],
  ]);
  return {
    id: "msg_r1",
    model: "m",
    thinking: words(true),
    text: words(false),
    calls: made.inputs.map((input, i) => ({
      id: `call_${i}`,
      name: "weather",
      input: JSON.parse(JSON.stringify(input)),
    })),
    stopReason: stopReasons.get(made.reason) ?? "",
    inputTokensAtStart: made.inputTokens,
    usage: {
      input_tokens: made.inputTokens,
      output_tokens: made.outputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens_details: made.reasoningTokens === undefined ? null : { thinking_tokens: made.reasoningTokens },
      ...notUsed,
    },
  };
}
