import { expect } from "@jest/globals";
import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";

/** An answer put together. */
export interface Answer {
  reasoning: string;
  text: string;
  calls: { id: string; name: string; arguments: string }[];
}

/** Puts the pieces of an answer together. */
export function join(events: readonly GenerationEvent[]): Answer {
  const answer: Answer = { reasoning: "", text: "", calls: [] };
  for (const { event } of events) {
    if (event.case === "reasoning") {
      answer.reasoning += event.value;
    }
    if (event.case === "text") {
      answer.text += event.value;
    }
    if (event.case === "toolCallStarted") {
      expect(event.value.index).toBe(answer.calls.length);
      answer.calls.push({ id: event.value.id, name: event.value.name, arguments: "" });
    }
    if (event.case === "toolCallArguments") {
      const call = answer.calls[event.value.index];
      if (call === undefined) {
        throw new Error("arguments of a call that has not started");
      }
      call.arguments += event.value.fragment;
    }
  }
  return answer;
}

/** Reads a stream to its end, or to its error. */
export async function drain(
  stream: AsyncIterable<EngineOutput>,
): Promise<{ outputs: EngineOutput[]; answer: Answer; error?: unknown }> {
  const outputs: EngineOutput[] = [];
  let failed: { error?: unknown } = {};
  try {
    for await (const output of stream) {
      outputs.push(output);
    }
  } catch (error) {
    failed = { error };
  }
  return { outputs, answer: join(outputs.flatMap(({ events }) => events)), ...failed };
}
