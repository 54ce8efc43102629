import { expect, test } from "@jest/globals";
import type { EngineOutput } from "../../../../src/engines/interface.ts";
import { contextExceeded, engineFailed } from "../../../../src/engines/shared/faults.ts";
import { fitOutput } from "../../../../src/engines/shared/output-fit/fit-output.ts";
import { drain } from "../../collect.ts";
import { chatRequest } from "../../requests.ts";

/** An engine that refuses until so much output is asked for; notes what it was asked. */
function engine(refusal: (asked: number) => Error | undefined) {
  const asked: number[] = [];
  async function* generate(maxOutputTokens: number): AsyncGenerator<EngineOutput> {
    asked.push(maxOutputTokens);
    const error = refusal(maxOutputTokens);
    if (error !== undefined) {
      throw error;
    }
    yield { events: [] };
    yield { events: [] };
  }
  return { asked, generate };
}

const overflow = (actual: number | undefined) => contextExceeded("full", { limit: 1000, actual });

test.each<[string, (asked: number) => Error | undefined, number[], boolean]>([
  ["what fits is asked once", () => undefined, [990], true],
  [
    "what passes the context is asked for again, with one token to spare",
    (n) => (n + 20 >= 1000 ? overflow(20) : undefined),
    [990, 979],
    true,
  ],
  [
    "an engine that keeps more to itself gets more room",
    (n) => (n + 20 > 950 ? overflow(20) : undefined),
    [990, 979, 852],
    true,
  ],
  ["and no further try after that", (n) => (n > 1 ? overflow(20) : undefined), [990, 979, 852], false],
  ["a prompt that does not fit is refused", () => overflow(1200), [990], false],
  ["a prompt whose length is not told is refused", () => overflow(undefined), [990], false],
  ["another failure is one", () => engineFailed("broken", true), [990], false],
])("%s", async (_, refusal, expected, works) => {
  const { asked, generate } = engine(refusal);
  const request = chatRequest("hi", { maxOutputTokens: 990 });
  const { outputs, error } = await drain(fitOutput(request, (one) => generate(one.maxOutputTokens)));
  expect(asked).toEqual(expected);
  expect([outputs.length, error === undefined]).toEqual(works ? [2, true] : [0, false]);
});

test("a failure after the first output is not tried again", async () => {
  let tries = 0;
  const generate = async function* (): AsyncGenerator<EngineOutput> {
    tries++;
    yield { events: [] };
    throw overflow(20);
  };
  const { outputs, error } = await drain(fitOutput(chatRequest("hi"), generate));
  expect([tries, outputs.length, error]).toEqual([1, 1, expect.any(Error)]);
});
