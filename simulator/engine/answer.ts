import { type Directive, parseNumber, withoutDirectives } from "./directives.ts";
import { Output } from "./output.ts";
import type { Tool } from "./text/chat-template.ts";
import { type Sequence, seeded } from "./text/random.ts";
import { pieces, special, tokenId } from "./text/tokenizer.ts";
import { paragraph, sentences, type Token } from "./text/words.ts";
import type { Depth, ThinkingOptions } from "./thinking.ts";
import { chooseCalls, type ToolChoice } from "./tool-choice.ts";

/** The facts that determine the answer to a prompt. */
export interface Question {
  /** The last user message, or the text to be continued. */
  readonly text: string;
  /** The directives in that text. */
  readonly directives: readonly Directive[];
  /** The results of tools since then. */
  readonly toolResults: readonly string[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice;
  readonly parallelCalls: boolean;
  readonly depth: Depth;
  /** Where the thinking appears. */
  readonly shown: ThinkingOptions["shown"];
  /** Determined by model, prompt and seed. Equal numbers give equal answers. */
  readonly seed: number;
}

/** Where and when an answer ends. */
export interface Limits {
  readonly maxTokens: number;
  readonly minTokens: number;
  /** Ignores the answer's own end: only another limit ends it. */
  readonly ignoreEnd: boolean;
  readonly stop: readonly string[];
  /** Whether the stop sequence itself is part of the text. */
  readonly keepStop: boolean;
}

/** How a model answers without directives. */
export type AnswerMode = "words" | "echo";

/** Creates a model's whole output: thinking, text, tool calls, and the token that ends it. */
export function answer(question: Question, limits: Limits, mode: AnswerMode): Output {
  const random = seeded(question.seed);
  const { directives } = question;
  const output = new Output();
  if (question.depth !== "none") {
    // Thinking has a random sequence of its own, so that the answer is the same with and without thinking.
    const thoughts = seeded(~question.seed);
    const count = parseNumber(directives, "think") ?? usualThinking(question.depth, thoughts);
    think(output, count, question.shown, thoughts);
  }
  const calls = chooseCalls(
    {
      tools: question.tools,
      choice: question.toolChoice,
      parallel: question.parallelCalls,
      question: question.text,
      answered: question.toolResults.length > 0,
      directives,
    },
    random,
  );
  const fixed = directives.find(({ name }) => name === "text")?.value;
  const echoed = mode === "echo" || directives.some(({ name }) => name === "echo");
  const count = parseNumber(directives, "tokens");
  if (fixed !== undefined) {
    output.pushText("text", fixed);
  } else if (count !== undefined) {
    output.pushTokens("text", words(count - 1, question, random));
  } else if (calls.length === 0) {
    if (echoed) {
      output.pushText("text", withoutDirectives(question.text));
    } else {
      output.pushTokens("text", opening(said(question)));
      output.pushTokens("text", paragraph(16 + Math.floor(random() * 40), random));
    }
  }
  for (const call of calls) {
    output.pushCall(call);
  }

  if (limits.ignoreEnd) {
    output.pushTokens("text", sentences(Math.max(0, limits.maxTokens - output.length), random));
    output.finish = "length";
  } else {
    output.pushTokens("text", sentences(Math.max(0, limits.minTokens - output.length - 1), random));
    output.mark(special.turnEnd);
  }
  output.stopAt(limits.stop, limits.minTokens, limits.keepStop);
  output.limit(limits.maxTokens);
  return output;
}

function usualThinking(depth: Depth, random: Sequence): number {
  return Math.floor((12 + random() * 24) * (depth === "deep" ? 4 : 1));
}

function think(output: Output, count: number, shown: ThinkingOptions["shown"], random: Sequence): void {
  const tokens = [...opening("Simulated thinking:"), ...sentences(count, random)].slice(0, count);
  if (shown === "field") {
    output.mark(special.thinkStart);
    output.pushTokens("reasoning", tokens);
    output.mark(special.thinkEnd);
    return;
  }
  if (shown === "tags") {
    output.pushText("text", "<think>\n");
  }
  output.pushTokens("text", tokens);
  output.pushText("text", "\n</think>\n\n");
}

function words(count: number, question: Question, random: Sequence): Token[] {
  const length = Math.max(0, count);
  return [...opening(said(question)), ...sentences(length, random)].slice(0, length);
}

function said({ toolResults }: Question): string {
  return toolResults.length > 0 ? `The tool answered ${toolResults.join(", ").slice(0, 400)}.` : "Simulated answer:";
}

function opening(text: string): Token[] {
  return pieces(text).map((piece) => ({ text: piece, id: tokenId(piece) }));
}
