import { FinishReason, type GenerationEvent, type Usage } from "#gen/tollgate/inference/v1/generation_event_pb.js";

/** Short makers of the core's events, for tests. */

export function started(requestId = "r1", inputTokens = 12n): GenerationEvent {
  return event({
    case: "started",
    value: { $typeName: "tollgate.inference.v1.Started", requestId, inputTokens, serviceClass: 2 },
  });
}

export function reasoning(value: string): GenerationEvent {
  return event({ case: "reasoning", value });
}

export function text(value: string): GenerationEvent {
  return event({ case: "text", value });
}

export function call(index: number, id = `call_${index}`, name = "weather"): GenerationEvent {
  return event({
    case: "toolCallStarted",
    value: { $typeName: "tollgate.inference.v1.ToolCallStarted", index, id, name },
  });
}

export function args(index: number, fragment: string): GenerationEvent {
  return event({
    case: "toolCallArguments",
    value: { $typeName: "tollgate.inference.v1.ToolCallArguments", index, fragment },
  });
}

export function finished(reason = FinishReason.STOP, counted: Partial<Usage> = {}): GenerationEvent {
  return event({
    case: "finished",
    value: {
      $typeName: "tollgate.inference.v1.Finished",
      reason,
      usage: { $typeName: "tollgate.inference.v1.Usage", lots: [], inputTokens: 12n, outputTokens: 5n, ...counted },
    },
  });
}

function event(value: GenerationEvent["event"]): GenerationEvent {
  return { $typeName: "tollgate.inference.v1.GenerationEvent", event: value };
}
