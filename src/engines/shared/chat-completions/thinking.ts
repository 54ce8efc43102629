import type { Fields, ThinkingRequest } from "./dialect.ts";

/**
 * The thinking switch as fields of the common API. Templates call the variable `thinking` (DeepSeek,
 * Kimi) or `enable_thinking` (Qwen, GLM, Nemotron) and are left cold by the other one.
 */
export function thinkingFields({ thinking, recipe }: ThinkingRequest): Fields {
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
