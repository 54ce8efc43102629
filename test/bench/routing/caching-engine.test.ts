import { expect, test } from "@jest/globals";
import { CachingEngine } from "./caching-engine.ts";

test("finds the turns in its cache that it has read", async () => {
  await using engine = await CachingEngine.start("m", 1000);
  const turn = (letter: string) => ({ role: "user", content: letter.repeat(400) });
  const ask = async (...letters: string[]) => {
    const body = JSON.stringify({ model: "m", messages: letters.map(turn), max_tokens: 2 });
    const response = await fetch(`${engine.url}/v1/chat/completions`, { method: "POST", body });
    const { usage } = (await response.json()) as { usage: { prompt_tokens_details: { cached_tokens: number } } };
    return usage.prompt_tokens_details.cached_tokens;
  };
  expect([await ask("a", "b"), await ask("a", "b", "c"), await ask("b")]).toEqual([0, 200, 0]);
  expect(engine.requests).toBe(3);
});
