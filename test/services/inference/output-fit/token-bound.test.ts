import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { ConversationSchema, Role } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { estimateTokens } from "#lib/text/estimate-tokens.ts";
import { inputBound } from "#src/services/inference/output-fit/token-bound.ts";

const conversation = (text: string) =>
  ({ case: "conversation", value: create(ConversationSchema, { messages: [{ role: Role.USER, text }] }) }) as const;

test("a byte-level tokenizer cannot pass the bound", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const bytes = new TextEncoder().encode(text).length;
      expect(inputBound(conversation(text))).toBeGreaterThan(bytes);
      expect(inputBound({ case: "text", value: text })).toBeGreaterThan(bytes);
    }),
  );
});

test("everything that reaches the prompt counts", () => {
  const bare = inputBound(conversation("hi"));
  const value = create(ConversationSchema, {
    messages: [
      { role: Role.USER, text: "hi" },
      {
        role: Role.ASSISTANT,
        reasoning: "r".repeat(1000),
        toolCalls: [{ id: "1", name: "n".repeat(1000), argumentsJson: "a".repeat(1000) }],
      },
    ],
    tools: [{ name: "t", description: "d".repeat(1000), parametersJson: "p".repeat(1000) }],
  });
  expect(inputBound({ case: "conversation", value })).toBeGreaterThan(bare + 5000);
});

test("the estimate follows the length", () => {
  expect(estimateTokens({ case: "text", value: "" })).toBe(1);
  expect(estimateTokens({ case: "text", value: "x".repeat(400) })).toBe(100);
  expect(estimateTokens(conversation("x".repeat(400)))).toBe(104);
});
