import type { EngineRequest } from "../../interface.ts";
import { continuesText } from "../prompt/turns.ts";
import { ThinkSplitter } from "./think-splitter.ts";

/**
 * The splitter for an answer's text. Undefined: the model does not think. Many templates open the thinking block
 * themselves, so that a thinking model's text is taken to start inside one, unless the engine was seen to send
 * reasoning in a separate field.
 */
export function splitterFor(
  { prompt, recipe, thinking }: Pick<EngineRequest, "prompt" | "recipe" | "thinking">,
  sendsReasoning: boolean,
): ThinkSplitter | undefined {
  if (recipe.mode === "none") {
    return undefined;
  }
  if (continuesText(prompt)) {
    return new ThinkSplitter("continuation");
  }
  const thinks = recipe.mode === "always" || (thinking?.enabled ?? recipe.mode === "default_on");
  return new ThinkSplitter(thinks && !sendsReasoning ? "thinking" : "answer");
}
