import { readdirSync, readFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { promptBound } from "#lib/text/prompt-bound.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import { believeInputs } from "#src/fleet/health/believe-inputs.ts";
import { KnownTemplates } from "#src/fleet/health/known-templates.ts";
import { Plausibility } from "#src/fleet/health/plausibility.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";
import { fuzzing } from "../../support/fuzz.ts";

const engines = new URL("../engines/", import.meta.url);
const count = /"(?:prompt_tokens|prompt_eval_count|tokens_evaluated|prompt_n)":\s*(\d+)/g;

/** Every count of a prompt in the answers of engines that tests keep. */
const captured = ["fixtures", "recordings"].flatMap((folder) =>
  readdirSync(new URL(folder, engines), { recursive: true, encoding: "utf8" })
    .filter((file) => /\.(sse|ndjson|txt)$/.test(file))
    .flatMap((file) => [...readFileSync(new URL(`${folder}/${file}`, engines), "utf8").matchAll(count)])
    .map(([, told]) => Number(told)),
);

const model = { id: "m", kind: "generation", context_length: 32_768 } as ServedModel;
const embedding = { ...model, kind: "embedding" } as ServedModel;

const text = fc.string({ maxLength: 300 });
const conversations = fc
  .record({
    messages: fc.array(
      fc.record({ role: fc.constantFrom(Role.USER, Role.ASSISTANT, Role.TOOL), text, reasoning: text }),
    ),
    tools: fc.array(fc.record({ name: text, description: text, parametersJson: text }), { maxLength: 3 }),
  })
  .map((value) => ({ case: "conversation" as const, value: create(ConversationSchema, value) }));
const prompts: fc.Arbitrary<FleetRequest["prompt"]> = fc.oneof(
  conversations,
  text.map((value) => ({ case: "text" as const, value })),
);
const told = fc.oneof(fc.constantFrom(...captured), fc.nat(), fc.nat({ max: 6000 }));

/** The prompt tokens that are believed of an engine that counts so many, under the hold that a request gets. */
function believe(prompt: FleetRequest["prompt"], inputTokens: number, templates: KnownTemplates) {
  const held = Math.min(model.context_length, promptBound(prompt, templates.of(model)));
  const doubts: string[] = [];
  const judged = { prompt, maxInputTokens: held, maxOutputTokens: 9 };
  const plausibility = new Plausibility(model, judged, templates, (what) => void doubts.push(what));
  const { usage } = plausibility.check({ events: [], usage: { inputTokens, outputTokens: 1 } });
  return { held, believed: usage?.inputTokens ?? Number.NaN, doubts };
}

describe("of a prompt", () => {
  test("engines' counts were captured", () => {
    expect(captured.length).toBeGreaterThan(20);
    expect(Math.max(...captured)).toBeGreaterThan(1);
  });

  test("no count is believed beyond its hold, whatever engines say one after the other", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(prompts, told), { minLength: 1, maxLength: 5 }), (answers) => {
        const templates = new KnownTemplates();
        for (const [prompt, inputTokens] of answers) {
          const { held, believed } = believe(prompt, inputTokens, templates);
          expect(believed).toBeLessThanOrEqual(held);
          expect(believed).toBeLessThanOrEqual(inputTokens);
        }
      }),
      fuzzing(500),
    );
  });

  test("an honest template is learned by its first prompt, and covered from the next one on", () => {
    const preamble = fc.integer({ min: 0, max: 4096 });
    fc.assert(
      fc.property(prompts, prompts, preamble, (first, second, added) => {
        const templates = new KnownTemplates();
        expect(believe(first, promptBound(first, 0) + added, templates).doubts).toEqual([]);
        const counted = promptBound(second, 0) + added;
        expect(believe(second, counted, templates).believed).toBe(Math.min(counted, model.context_length));
      }),
      fuzzing(200),
    );
  });

  test("what the configuration says of the template is held from the first prompt on", () => {
    const templates = new KnownTemplates();
    expect(templates.of({ ...model, template_tokens: 3000 })).toBe(3000);
    expect(templates.of({ ...model, template_tokens: 0 })).toBe(0);
    templates.learn(model, 2000);
    expect(templates.of(model)).toBe(2000);
    templates.learn(model, 1000);
    expect(templates.of(model)).toBe(2000);
  });
});

test("no count of inputs is believed beyond its hold", () => {
  const inputs = fc.array(text, { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(inputs, told, (given, tokens) => {
      const templates = new KnownTemplates();
      const maxInputTokens = given.reduce(
        (sum, value) => sum + promptBound({ case: "text", value }, templates.of(embedding)),
        0,
      );
      const believed = believeInputs(tokens + 1, { inputs: given, maxInputTokens }, embedding, templates, () => {});
      expect(believed).toBeLessThanOrEqual(maxInputTokens);
    }),
    fuzzing(500),
  );
});

test("a count of inputs that the model does not take is refused, whatever its template is known to add", () => {
  const small = { ...embedding, context_length: 512 };
  for (const added of [0, 100]) {
    const templates = new KnownTemplates();
    templates.learn(small, added);
    const doubts: string[] = [];
    const doubt = (what: string) => void doubts.push(what);
    const cut = () => believeInputs(600, { inputs: ["x".repeat(600)], maxInputTokens: 512 }, small, templates, doubt);
    expect(cut).toThrow("may have at most 512");
    expect(doubts).toEqual([]);
    expect(templates.of(small)).toBe(Math.max(16, added));
  }
});
