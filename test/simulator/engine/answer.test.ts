import { expect, test } from "@jest/globals";
import { answer, type Limits, type Question } from "../../../simulator/engine/answer.ts";
import { directivesIn } from "../../../simulator/engine/directives.ts";
import type { Output, TokenKind } from "../../../simulator/engine/output.ts";
import { encode, special } from "../../../simulator/engine/text/tokenizer.ts";

const limits: Limits = { maxTokens: 10_000, minTokens: 0, ignoreEnd: false, stop: [], keepStop: false };

function ask(text: string, more: Partial<Question> = {}, within: Partial<Limits> = {}): Output {
  const question: Question = {
    text,
    directives: directivesIn(text),
    toolResults: [],
    tools: [],
    toolChoice: "auto",
    parallelCalls: true,
    depth: "none",
    shown: "field",
    seed: 1,
    ...more,
  };
  return answer(question, { ...limits, ...within }, "words");
}

function said(output: Output, kind: TokenKind = "text"): string {
  return output.texts.filter((_, at) => output.kinds[at] === kind).join("");
}

const tools = [
  { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
  { name: "sendMail", parameters: { type: "object" } },
];

test("says whole sentences, and says that it is simulated", () => {
  expect(said(ask("Hello"))).toMatch(/^Simulated answer: .*\.$/);
});

test("is the same for the same seed, with and without thinking", () => {
  const text = said(ask("Hello"));
  expect(said(ask("Hello"))).toBe(text);
  expect(said(ask("Hello", { depth: "normal" }))).toBe(text);
  expect(said(ask("Hello", { seed: 2 }))).not.toBe(text);
});

test("its text has the tokens that the tokenizer finds in it", () => {
  const output = ask("Hello");
  expect([...encode(said(output)), special.turnEnd]).toEqual(output.ids);
});

test.each([
  ["[[sim:text=exactly, this\nand that]]", "exactly, this\nand that"],
  ["[[sim:text=]]", ""],
  ["Say it again. [[sim:echo]]", "Say it again."],
  ["[[sim:text=👋 東京]]", "👋 東京"],
])("obeys %j", (text, expected) => {
  expect(said(ask(text))).toBe(expected);
});

test.each([1, 2, 50, 3000])("[[sim:tokens=%d]] is so many tokens, the end among them", (count) => {
  const output = ask(`[[sim:tokens=${count}]]`);
  expect(output).toHaveLength(count);
  expect(output.ids.at(-1)).toBe(special.turnEnd);
  expect(output.finish).toBe("stop");
});

test.each(["field", "tags", "closing-tag"] as const)("shows thinking as %s", (shown) => {
  const output = ask("[[sim:think=3]] [[sim:text=Done.]]", { depth: "normal", shown });
  const thought = "Simulated";
  const expected = { field: "Done.", tags: `<think>\n${thought} think`, "closing-tag": `${thought} think` }[shown];
  expect(said(output).startsWith(expected)).toBe(true);
  expect(said(output).endsWith("Done.")).toBe(true);
  expect(said(output).includes("</think>")).toBe(shown !== "field");
  expect(output.kinds.filter((kind) => kind === "reasoning")).toHaveLength(shown === "field" ? 3 : 0);
});

test("thinks longer when it thinks deep", () => {
  const length = (depth: "normal" | "deep") => said(ask("Hm?", { depth }), "reasoning").length;
  expect(length("deep")).toBeGreaterThan(length("normal") * 2);
});

test("a character of two tokens comes with the second", () => {
  const output = ask("[[sim:text=a👋b]]");
  expect(output.texts).toEqual(["a", "", "👋", "b", ""]);
  expect(output.kinds).toEqual(["text", "silent", "text", "text", "silent"]);
});

test("max_tokens cuts and says so", () => {
  const output = ask("[[sim:tokens=50]]", {}, { maxTokens: 20 });
  expect(output).toHaveLength(20);
  expect(output.finish).toBe("length");
  expect(ask("[[sim:tokens=50]]", {}, { maxTokens: 50 }).finish).toBe("stop");
});

test("min_tokens and ignore_eos make it longer", () => {
  expect(ask("[[sim:tokens=5]]", {}, { minTokens: 30 })).toHaveLength(30);
  const endless = ask("[[sim:tokens=5]]", {}, { ignoreEnd: true, maxTokens: 99 });
  expect(endless).toHaveLength(99);
  expect(endless.finish).toBe("length");
});

test.each([
  [["harbour"], false, "One "],
  [["our and"], false, "One harb"],
  [["\n\n", "and"], false, "One harbour "],
  [["and"], true, "One harbour and"],
  [["never"], false, "One harbour and another.\n\nThe end."],
])("stops at %j, keeping it: %j", (stop, keepStop, expected) => {
  const output = ask("[[sim:text=One harbour and another.\n\nThe end.]]", {}, { stop, keepStop });
  expect(said(output)).toBe(expected);
  expect(output.stopSequence).toBe(stop[0] === "never" ? undefined : stop.at(-1));
  expect(output.finish).toBe("stop");
});

test("a stop sequence counts the token that completes it", () => {
  const output = ask("[[sim:text=one two three four]]", {}, { stop: [" three"] });
  expect(output).toHaveLength(3);
});

test("calls the tools that directives name, with the arguments that they give", () => {
  const output = ask('[[sim:tool=sendMail]] [[sim:tool=get_weather]] [[sim:args={"a":1}]]', { tools });
  expect(output.calls.map(({ name }) => name)).toEqual(["sendMail", "get_weather"]);
  expect(said(output, "arguments")).toBe('{"a":1}{"a":1}');
  expect(output.finish).toBe("tool_calls");
  expect(new Set(output.calls.map(({ id }) => id)).size).toBe(2);
});

test.each([
  ["What is the weather?", {}, ["get_weather"]],
  ["Please send mail", {}, ["sendMail"]],
  ["Hello", {}, []],
  ["Hello", { toolChoice: "required" as const }, ["get_weather"]],
  ["Hello", { toolChoice: { name: "sendMail" } }, ["sendMail"]],
  ["What is the weather?", { toolChoice: "none" as const }, []],
  ["[[sim:tools=3]]", {}, ["get_weather", "sendMail", "get_weather"]],
  ["[[sim:tools=2]]", { parallelCalls: false }, ["get_weather"]],
  ["What is the weather?", { toolResults: ["sunny"] }, []],
])("asked %j with %j, calls %j", (text, more, expected) => {
  expect(ask(text, { tools, ...more }).calls.map(({ name }) => name)).toEqual(expected);
});

test("tells what the tools answered", () => {
  expect(said(ask("What is the weather?", { tools, toolResults: ["sunny", "18 °C"] }))).toMatch(/sunny, 18 °C/);
});

test("a call cut by the limit has lost its end, and is no reason to finish", () => {
  const output = ask(
    '[[sim:tool=sendMail]] [[sim:args={"text":"a long letter to many"}]]',
    { tools },
    { maxTokens: 6 },
  );
  expect(said(output, "arguments")).toBe('{"text":"'.slice(0, said(output, "arguments").length));
  expect(output.finish).toBe("length");
});
