/** How a model thinks before it answers. */
export interface ThinkingOptions {
  readonly mode: "none" | "always" | "default_off" | "default_on";
  /** Whether an effort of `high` or more makes the model think longer. */
  readonly depths: boolean;
  /**
   * Where thinking appears: in a separate field, as `<think>…</think>` in the text, or in the text without the opening
   * tag, which some chat templates put into the prompt.
   */
  readonly shown: "field" | "tags" | "closing-tag";
}

/** A request's setting of thinking. */
export interface ThinkingSwitch {
  /** `thinking` or `enable_thinking` of the chat template. */
  readonly enabled: boolean | undefined;
  readonly effort: string | undefined;
}

export type Depth = "none" | "normal" | "deep";

/** How deeply a model thinks about a request. The template's own variable outweighs the effort, as in vLLM. */
export function thinkingDepth(options: ThinkingOptions, asked: ThinkingSwitch): Depth {
  if (options.mode === "none") {
    return "none";
  }
  if (options.mode !== "always") {
    const byEffort = asked.effort === undefined ? undefined : asked.effort !== "none";
    if (!(asked.enabled ?? byEffort ?? options.mode === "default_on")) {
      return "none";
    }
  }
  const deep = asked.effort === "high" || asked.effort === "xhigh" || asked.effort === "max";
  return options.depths && deep ? "deep" : "normal";
}
