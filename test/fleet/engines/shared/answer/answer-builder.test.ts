import { expect, test } from "@jest/globals";
import { AnswerBuilder } from "#src/fleet/engines/shared/answer/answer-builder.ts";
import { chatRequest, textRequest } from "../../requests.ts";

const traits = () => ({ where: "engine", sendsReasoning: false });

test.each([
  ["a conversation", chatRequest("three plain words"), 3],
  ["a text", textRequest("two words"), 2],
  ["an empty prompt", chatRequest(""), 1],
])("what came of an answer to %s has a lower bound until the engine counts", (_, request, words) => {
  const answer = new AnswerBuilder(request, traits());
  answer.touch();
  expect(answer.take()).toEqual({ events: [] });
  answer.touch();
  answer.addReasoning("hm");
  answer.addText("some words in one piece");
  expect(answer.take()?.usage).toEqual({ inputTokens: words, outputTokens: 2, isLowerBound: true });
  answer.touch();
  answer.addCall({ index: 0, id: "c", function: { name: "f", arguments: "{}" } });
  expect(answer.take()?.usage).toEqual({ inputTokens: words, outputTokens: 3, isLowerBound: true });
  answer.touch();
  answer.addUsage({ inputTokens: 9, outputTokens: 7 });
  answer.addText("more");
  expect(answer.take()?.usage).toEqual({ inputTokens: 9, outputTokens: 7 });
});

test("white space that parts the answer from the thinking is in neither", () => {
  const answer = new AnswerBuilder(chatRequest("hi"), traits());
  const said: string[] = [];
  answer.touch();
  answer.addReasoning("hm");
  for (const piece of ["\n", "\n ", " \nHello", "\n\n", "again"]) {
    answer.addText(piece);
  }
  for (const { event } of answer.take()?.events ?? []) {
    said.push(`${event.case} ${event.value}`);
  }
  expect(said).toEqual(["reasoning hm", "text Hello", "text \n\n", "text again"]);
});

test.each<[pieces: string[], said: string[]]>([
  [["\n\n"], []],
  [
    ["\n", " \nhm", "\n", "so"],
    ["reasoning hm", "reasoning \n", "reasoning so"],
  ],
])("thinking begins with what can be seen: %j", (pieces, said) => {
  const answer = new AnswerBuilder(chatRequest("hi"), traits());
  answer.touch();
  for (const piece of pieces) {
    answer.addReasoning(piece);
  }
  answer.addText("\n\nHello");
  answer.addReasoning("\n");
  const { events, usage } = answer.take() ?? { events: [] };
  expect(events.map(({ event }) => `${event.case} ${event.value}`)).toEqual([...said, "text Hello"]);
  expect(usage?.outputTokens).toBe(pieces.length + 2);
});

test("an answer without thinking begins as the engine said it", () => {
  const answer = new AnswerBuilder(chatRequest("hi"), traits());
  answer.touch();
  answer.addText("\n\nHello");
  expect(answer.take()?.events).toMatchObject([{ event: { case: "text", value: "\n\nHello" } }]);
});
