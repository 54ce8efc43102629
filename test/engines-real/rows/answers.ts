import { normalCall, type Question, type Surface } from "../gate.ts";
import { call, plainAnswer, stopWord, thought } from "../model/said.ts";
import type { Exchange } from "../tee.ts";
import { callText } from "../told.ts";
import { compare } from "./answered.ts";
import { type Bench, type Row, same } from "./row.ts";

const surfaces: readonly Surface[] = ["chat", "messages"];

/** What the client has to get. */
interface Expected {
  readonly text: string;
  readonly reasoning?: string;
  readonly calls?: readonly string[];
}

/** A row that asks the same on both surfaces, in one piece and streamed. */
function row(name: string, question: Question, expected: Expected, deliveries = [false, true]): Row {
  return {
    name,
    async run(bench: Bench) {
      for (const surface of surfaces) {
        for (const stream of deliveries) {
          const exchange = await ask(bench, surface, { ...question, stream }, expected);
          bench.keep(name, exchange); // Tollgate asks the engine for a stream whatever the client asked for
        }
      }
      return undefined;
    },
  };
}

/** Asks one of them; returns what passed between Tollgate and the engine. */
async function ask(bench: Bench, surface: Surface, question: Question, expected: Expected): Promise<Exchange> {
  const { answer, exchange } = await compare(bench, surface, question);
  const where = `${surface}${question.stream ? ", streamed" : ""}`;
  same(`${where}: the text`, answer.text, expected.text);
  same(`${where}: the thinking`, answer.reasoning.trim(), expected.reasoning ?? "");
  same(`${where}: the calls`, answer.calls.map(normalCall), expected.calls ?? []);
  return exchange;
}

const turns = ["What do you say?"];

export const answerRows: readonly Row[] = [
  row("plain", { turns, thinking: false }, { text: plainAnswer }, [false]),
  row("stream", { turns, thinking: false }, { text: plainAnswer }, [true]),
  row("thinking", { turns, thinking: true }, { text: plainAnswer, reasoning: thought }),
  row("tools", { turns, thinking: false, tools: true }, { text: "", calls: [callText(call.name, call.arguments)] }),
  row("stop", { turns, thinking: false, stop: stopWord }, { text: plainAnswer.split(stopWord)[0] as string }),
  row("prefill", { turns: [...turns, "Count: one two"], maxTokens: 4 }, { text: " three four five six" }),
];
