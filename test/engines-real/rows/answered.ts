import type { Answer, Question, Surface } from "../gate.ts";
import { normalCall } from "../gate.ts";
import type { Exchange } from "../tee.ts";
import { askAgain, type Counts, readCounts, type Told } from "../told.ts";
import { readCounters } from "./counters.ts";
import { type Bench, holds, same } from "./row.ts";

/** An answer and what the engine says to the same request. */
export interface Compared {
  readonly answer: Answer;
  readonly told: Told;
  readonly exchange: Exchange;
}

/**
 * Asks a question that is answered whole, and holds text, receipt and usage against the engine's own answer, its own
 * count and its counters. Throws with the first difference.
 */
export async function compare(
  { gate, tee, engine, driver }: Bench,
  surface: Surface,
  question: Question,
): Promise<Compared> {
  tee.take();
  const before = await readCounters(engine().url, driver);
  const answer = await gate.ask(surface, { ...question, seen: true });
  const after = await readCounters(engine().url, driver);
  holds(`${surface}: ${answer.status}: ${answer.error}`, answer.error === undefined && answer.status === 200);
  const [exchange] = tee.take();
  if (exchange === undefined) {
    throw new Error("nothing reached the engine");
  }
  const counted = readCounts(exchange);
  const told = await askAgain(engine().url, exchange);
  const receipt = await gate.receipt(answer.requestId);
  same(`${surface}: the client's usage`, answer.counts, counted);
  same(`${surface}: the receipt`, receipt && { input: receipt.input_tokens, output: receipt.output_tokens }, counted);
  same(`${surface}: the engine's count of the same request`, told.counts, counted);
  if (before !== undefined && after !== undefined) {
    const counters: Counts = { input: after.input - before.input, output: after.output - before.output };
    same(`${surface}: the engine's counters`, counters.output, counted?.output);
  }
  const unseen = await gate.ask(surface, question);
  const { text, reasoning, calls, counts } = answer;
  same(
    `${surface}: the answer with nothing between`,
    { text: unseen.text, reasoning: unseen.reasoning, calls: unseen.calls.map(normalCall), counts: unseen.counts },
    { text, reasoning, calls: calls.map(normalCall), counts },
  );
  const own = ownAnswer(told, question);
  same(`${surface}: the text, against the engine's`, answer.text, own.text);
  same(`${surface}: the thinking, against the engine's`, answer.reasoning.trim(), own.reasoning);
  same(`${surface}: the calls`, answer.calls.map(normalCall), told.calls);
  return { answer, told, exchange };
}

/**
 * The engine's answer as clients are to have it: thinking that is left in the text apart, without the white space that
 * parts it from the answer, without the repeated beginning of an answer that the caller had begun, and without a stop
 * sequence that the engine leaves at its end.
 */
function ownAnswer(
  { text: whole, reasoning }: Told,
  { turns, stop }: Question,
): { readonly text: string; readonly reasoning: string } {
  const [text = ""] = stop === undefined ? [whole] : whole.split(stop);
  const begun = turns.length % 2 === 0 ? (turns.at(-1) ?? "") : "";
  const rest = text.startsWith(begun) ? text.slice(begun.length) : text;
  const [, thought, after = ""] = /^<think>(.*)<\/think>(.*)$/s.exec(rest) ?? [];
  if (thought !== undefined) {
    return { text: after.trimStart(), reasoning: thought.trim() };
  }
  return { text: reasoning === "" ? rest : rest.trimStart(), reasoning: reasoning.trim() };
}
