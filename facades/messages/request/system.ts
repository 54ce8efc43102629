import type { SystemPrompt } from "#gen/tollgate/messages/v1/message_param_pb.js";

/** A coding agent's line that differs in every request. With it, no two prompts would share a prefix. */
const billingHeader = "x-anthropic-billing-header";

/** The instructions as one text. Empty: none. */
export function toSystem(system: SystemPrompt | undefined): string {
  return listTexts(system)
    .map(withoutBillingHeader)
    .filter((text) => text !== "")
    .join("\n");
}

function listTexts(system: SystemPrompt | undefined): string[] {
  switch (system?.form.case) {
    case "text":
      return [system.form.value];
    case "blocks":
      return system.form.value.blocks.map(({ block }) => block.value?.text ?? "");
    case undefined:
      return [];
  }
}

function withoutBillingHeader(text: string): string {
  if (!text.startsWith(billingHeader)) {
    return text;
  }
  const end = text.indexOf("\n");
  return end === -1 ? "" : text.slice(end + 1);
}
