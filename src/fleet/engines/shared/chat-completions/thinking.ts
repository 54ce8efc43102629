import type { Fields, ThinkingRequest } from "./dialect.ts";

/** Whether a template variable turns the thinking on and off. */
const isSwitched = ({ mode, switch: by }: ThinkingRequest["recipe"]): boolean =>
  by === "chat_template_kwargs" && (mode === "default_on" || mode === "default_off");

/**
 * The thinking switch as fields of the common API. Templates call the variable `thinking` (DeepSeek, Kimi) or
 * `enable_thinking` (Qwen, GLM, Nemotron) and ignore the other name. A continued answer is past its thinking: with
 * thinking on, the engine's parser would take all of it for thoughts.
 */
export function thinkingFields({ thinking, recipe }: ThinkingRequest, continued = false): Fields {
  if (continued && isSwitched(recipe)) {
    return { chat_template_kwargs: { thinking: false, enable_thinking: false } };
  }
  if (thinking === undefined) {
    return {};
  }
  const { enabled, deepest } = thinking;
  switch (recipe.switch) {
    case "chat_template_kwargs":
      return {
        chat_template_kwargs: { thinking: enabled, enable_thinking: enabled },
        ...(deepest && { reasoning_effort: "max" }),
      };
    case "reasoning_effort":
      if (deepest) {
        return { reasoning_effort: "high" };
      }
      return enabled || recipe.mode === "always" ? {} : { reasoning_effort: "none" };
  }
}
