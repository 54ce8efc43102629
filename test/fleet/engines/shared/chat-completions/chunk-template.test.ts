import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { ChunkTemplate } from "#src/fleet/engines/shared/chat-completions/chunk-template.ts";

const chunk = (over: { id?: string; delta?: object; choice?: object; usage?: object | null; more?: object } = {}) => ({
  id: over.id ?? "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1767225600,
  model: "m",
  choices: [{ index: 0, delta: over.delta ?? { content: " text" }, finish_reason: null, ...over.choice }],
  usage: over.usage === undefined ? usage(1) : over.usage,
  ...over.more,
});
const usage = (output: number) => ({ prompt_tokens: 16, total_tokens: 16 + output, completion_tokens: output });

/** Whose chunk it is: nobody reads that, so it stays as it was learned. */
const identity = { id: "chatcmpl-1", created: 1767225600 };

/** The template of a chunk. */
function learn(value: object): ChunkTemplate | undefined {
  const data = JSON.stringify(value);
  return ChunkTemplate.of(data, JSON.parse(data));
}

/** What it reads of another chunk. */
const read = (template: ChunkTemplate | undefined, value: object) => template?.read(JSON.stringify(value));

test.each<[string, object]>([
  ["the same", chunk()],
  ["another piece and count", chunk({ delta: { content: "ü 😀" }, usage: usage(123) })],
  ["an empty piece", chunk({ delta: { content: "" }, usage: usage(2) })],
  ["a piece that looks like JSON", chunk({ delta: { content: "{id: 1}, [2]" } })],
  ["a count past 32 bits", chunk({ usage: usage(5_000_000_000) })],
  ["another answer's", chunk({ id: "chatcmpl-2", more: { created: 1767225601 } })],
])("reads %s as the parser does", (_, value) => {
  expect(read(learn(chunk()), value)).toEqual({ ...value, ...identity });
});

test.each<[string, object]>([
  ["an escape in the text", chunk({ delta: { content: "a\n" } })],
  ["a quote in the text", chunk({ delta: { content: '"' } })],
  ["a finish reason", chunk({ choice: { finish_reason: "stop" } })],
  ["another field", chunk({ more: { system_fingerprint: "x" } })],
  ["no usage", chunk({ usage: null })],
  ["a second answer", { ...chunk(), choices: [...chunk().choices, ...chunk().choices] }],
  ["reasoning instead", chunk({ delta: { reasoning: "hm" } })],
  ["a tool call", chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: "{" } }] } })],
  ["an error", chunk({ more: { error: { message: "x" } } })],
  ["another model", chunk({ more: { model: "n" } })],
  ["a count that is no integer", chunk({ usage: { ...usage(1), completion_tokens: 1.5 } })],
  ["a negative count", chunk({ usage: { ...usage(1), completion_tokens: -1 } })],
  ["a count past the exact integers", chunk({ usage: usage(2 ** 60) })],
  ["a count as text", chunk({ usage: { ...usage(1), completion_tokens: "1" } })],
])("leaves %s to the parser", (_, value) => {
  expect(read(learn(chunk()), value)).toBeUndefined();
});

test.each(["", "{", "null", JSON.stringify(chunk()).slice(0, -1), `${JSON.stringify(chunk())} `])(
  "leaves %j to the parser",
  (data) => expect(learn(chunk())?.read(data)).toBeUndefined(),
);

test.each<[string, object]>([
  ["with text and thinking", chunk({ delta: { content: "a", reasoning: "b" } })],
  ["with an escape", chunk({ delta: { content: "\\" } })],
  ["with a tool call", chunk({ delta: { content: "a", tool_calls: [{ index: 0 }] } })],
  ["of two answers", { ...chunk(), choices: [...chunk().choices, { index: 1, delta: { content: "b" } }] }],
  ["whose text stands twice", chunk({ more: { echo: { content: " text" } } })],
  ["with a count in another place", chunk({ usage: null, more: { timings: { prompt_tokens: 16 } } })],
  ["with a count twice", chunk({ more: { timings: { prompt_tokens: 16 } } })],
  ["of the other endpoint", { id: "c", choices: [{ index: 0, text: "a" }] }],
  ["with an error", chunk({ more: { error: { code: 500 } } })],
])("is not made of a chunk %s", (_, value) => {
  expect(learn(value)).toBeUndefined();
});

test.each<[string, object]>([
  ["thinking", { reasoning: "hm" }],
  ["thinking under its older name", { reasoning_content: "hm" }],
  ["a role without text", { role: "assistant", content: "" }],
  ["nothing at all", {}],
  ["a role beside the text", { role: "assistant", content: "a" }],
])("is made of %s", (_, delta) => {
  const isSaid = "content" in delta && delta.content !== "";
  const next = chunk({ delta: { ...delta, ...(isSaid && { content: "b" }) }, usage: usage(9) });
  expect(read(learn(chunk({ delta })), next)).toEqual(next);
});

test.each<[string, object, object]>([
  [
    "text with its end",
    { choice: { finish_reason: "length" } },
    { delta: { content: "b" }, choice: { finish_reason: "length" } },
  ],
  ["an end", { delta: {}, choice: { finish_reason: "stop" } }, { delta: {}, choice: { finish_reason: "stop" } }],
])("is made of %s", (_, first, second) => {
  const next = chunk({ ...second, usage: usage(7) });
  expect(read(learn(chunk(first)), next)).toEqual(next);
});

test("is made of usage alone", () => {
  const alone = (count: number) => ({ ...chunk({ usage: usage(count) }), choices: [] });
  expect(read(learn(alone(1)), alone(7))).toEqual(alone(7));
});

test("whatever it reads of any two chunks, the parser reads too", () => {
  const text = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom("a", " b", '"', "\\", "\n", "ü", '"content":"'));
  const some = fc.record({
    id: fc.constantFrom("a", "b", "c\\"),
    delta: fc.oneof(
      { weight: 6, arbitrary: fc.record({ content: text }) },
      fc.record({ reasoning: text }),
      fc.record({ content: text, reasoning: text }, { requiredKeys: [] }),
    ),
    choice: fc.constantFrom({}, {}, {}, {}, {}, { finish_reason: "stop" }, { logprobs: null }),
    usage: fc.oneof(fc.nat({ max: 200 }).map(usage), fc.constant(null), fc.constant({ prompt_tokens: 1 })),
    more: fc.constantFrom({}, {}, { created: 5 }, { id: "z" }, { prompt_tokens: 16 }, { timings: { created: 1 } }),
  });
  let reads = 0;
  fc.assert(
    fc.property(some, some, fc.boolean(), (first, other, isAlike) => {
      const { delta, usage } = other;
      const next = chunk(isAlike ? { ...first, delta, usage } : other);
      const found = read(learn(chunk(first)), next);
      if (found === undefined) {
        return;
      }
      reads++;
      const { id: _, created: __, ...expected } = JSON.parse(JSON.stringify(next));
      expect(found).toMatchObject(expected);
    }),
    { numRuns: 3000 },
  );
  expect(reads).toBeGreaterThan(50);
});
