import type { Caller, ContentBlock } from "#gen/tollgate/messages/v1/message_pb.js";
import type { Delta } from "#gen/tollgate/messages/v1/stream_event_pb.js";
import type { JsonExtent } from "./json-extent.ts";

/** A block of the answer. `waiting` has the pieces that came before the block could be opened. */
export type Block = { readonly kind: "thinking" | "text"; readonly waiting: string[] } | CallBlock;

/** A tool call. */
export interface CallBlock {
  readonly kind: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly waiting: string[];
  /** How much of its arguments has come. */
  readonly extent: JsonExtent;
  /** Whether no arguments were sent yet. */
  empty: boolean;
}

/** Who makes every tool call. */
export const caller: Caller = { $typeName: "tollgate.messages.v1.Caller", type: "direct" };

/** The delta for a further piece of a block. */
export function toDelta(kind: Block["kind"], piece: string): Delta["delta"] {
  switch (kind) {
    case "thinking":
      return { case: "thinkingDelta", value: { $typeName: "tollgate.messages.v1.ThinkingDelta", thinking: piece } };
    case "text":
      return { case: "textDelta", value: { $typeName: "tollgate.messages.v1.TextDelta", text: piece } };
    case "tool_use":
      return {
        case: "inputJsonDelta",
        value: { $typeName: "tollgate.messages.v1.InputJsonDelta", partialJson: piece },
      };
  }
}

/** A block as it is when it opens. */
export function emptyBlock(block: Block): ContentBlock {
  switch (block.kind) {
    case "thinking":
      return contentBlock({
        case: "thinking",
        value: { $typeName: "tollgate.messages.v1.ThinkingBlock", thinking: "", signature: "" },
      });
    case "text":
      return contentBlock({ case: "text", value: { $typeName: "tollgate.messages.v1.TextBlock", text: "" } });
    case "tool_use":
      return contentBlock({
        case: "toolUse",
        value: { $typeName: "tollgate.messages.v1.ToolUseBlock", id: block.id, name: block.name, input: "{}", caller },
      });
  }
}

function contentBlock(block: ContentBlock["block"]): ContentBlock {
  return { $typeName: "tollgate.messages.v1.ContentBlock", block };
}
