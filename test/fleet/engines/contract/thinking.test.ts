import { describe, expect, test } from "@jest/globals";
import type { EngineUsage, ThinkingRecipe } from "#src/fleet/engines/interface.ts";
import { drain } from "../collect.ts";
import { chatRequest } from "../requests.ts";
import { connect, engines, never, startEngine, thinkers } from "./engines.ts";

describe.each(engines)("$dialect", ({ dialect, reasoningTokens, cachedTokens }) => {
  const started = startEngine(dialect);

  test.each(thinkers)("thinks apart from the answer: $id", async ({ id, mode }) => {
    const recipe: ThinkingRecipe = { mode, depths: true, switch: "chat_template_kwargs" };
    const thinker = connect(started.sim.url, dialect);
    const ask = (enabled: boolean, deepest = false) => {
      const request = chatRequest("[[sim:text=Hello.]]", { model: id, recipe, thinking: { enabled, deepest } });
      return drain(thinker.generate(request, never()));
    };
    const on = await ask(true);
    expect(on.answer.reasoning).toContain("thinking");
    expect(on.answer.text.trim()).toBe("Hello.");
    expect(on.answer.reasoning).not.toContain("think>");
    const deep = await ask(true, true);
    expect(deep.answer.reasoning.length).toBeGreaterThan(on.answer.reasoning.length);
    if (mode !== "always") {
      expect((await ask(false)).answer).toEqual({ reasoning: "", text: "Hello.", calls: [] });
    }
    await thinker.close();
  });

  test("tells the tokens of thinking, and those from its cache", async () => {
    const recipe = { mode: "default_on", depths: true, switch: "chat_template_kwargs" } as const;
    const thinking = { enabled: true, deepest: false };
    const request = chatRequest(`A long question. ${"word ".repeat(100)}`, {
      model: "default_on-field",
      recipe,
      thinking,
    });
    await started.generate(request);
    const { outputs } = await started.generate(request);
    const told: EngineUsage = outputs.at(-1)?.usage ?? { inputTokens: 0, outputTokens: 0 };
    if (reasoningTokens) {
      expect(told.reasoningTokens).toBeGreaterThan(0);
    } else {
      expect(told.reasoningTokens).toBeUndefined();
    }
    if (cachedTokens) {
      expect(told.cachedInputTokens).toBeGreaterThan(0);
    } else {
      expect(told.cachedInputTokens).toBeUndefined();
    }
    expect(told.reasoningTokens ?? 0).toBeLessThan(told.outputTokens);
    expect(told.cachedInputTokens ?? 0).toBeLessThan(told.inputTokens);
  });
});
