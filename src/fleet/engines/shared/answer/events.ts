import type { GenerationEvent } from "#gen/tollgate/inference/v1/generation_event_pb.js";

// Events are plain literals: one is made for every token, and `create()` costs ten times as much.

/** More of the model's thinking. */
export function reasoningEvent(value: string): GenerationEvent {
  return { $typeName: "tollgate.inference.v1.GenerationEvent", event: { case: "reasoning", value } };
}

/** More of the answer. */
export function textEvent(value: string): GenerationEvent {
  return { $typeName: "tollgate.inference.v1.GenerationEvent", event: { case: "text", value } };
}

/** A tool call begins. */
export function toolCallStartedEvent(index: number, id: string, name: string): GenerationEvent {
  return {
    $typeName: "tollgate.inference.v1.GenerationEvent",
    event: { case: "toolCallStarted", value: { $typeName: "tollgate.inference.v1.ToolCallStarted", index, id, name } },
  };
}

/** More of a tool call's arguments. */
export function toolCallArgumentsEvent(index: number, fragment: string): GenerationEvent {
  return {
    $typeName: "tollgate.inference.v1.GenerationEvent",
    event: {
      case: "toolCallArguments",
      value: { $typeName: "tollgate.inference.v1.ToolCallArguments", index, fragment },
    },
  };
}
