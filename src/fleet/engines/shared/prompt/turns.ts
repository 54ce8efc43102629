import { type Message, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import type { EngineRequest } from "../../interface.ts";
import { placeSystemMessages } from "./system-messages.ts";

/** The turns as a chat template takes them, and whether the model is to continue the last one. */
export function toTurns(
  messages: readonly Message[],
  systemAnywhere: boolean,
): { readonly turns: readonly Message[]; readonly continued: boolean } {
  const placed = placeSystemMessages(messages, systemAnywhere);
  const last = placed.at(-1);
  if (!isPrefill(last)) {
    return { turns: placed, continued: false };
  }
  // A last turn without text cannot be continued.
  return last?.text === "" ? { turns: placed.slice(0, -1), continued: false } : { turns: placed, continued: true };
}

/** Whether the model continues a text that the caller began, instead of answering a turn. */
export function continuesText(prompt: EngineRequest["prompt"]): boolean {
  if (prompt.case === "text") {
    return true;
  }
  const last = prompt.value.messages.at(-1);
  return isPrefill(last) && last?.text !== "";
}

function isPrefill(message: Message | undefined): boolean {
  return message?.role === Role.ASSISTANT && message.toolCalls.length === 0;
}
