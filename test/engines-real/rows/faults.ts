import { eventually } from "../../support/eventually.ts";
import { pause } from "../../support/pause.ts";
import type { Surface } from "../gate.ts";
import { endlessQuestion, plainAnswer } from "../model/said.ts";
import { type Counts, readCounts } from "../told.ts";
import { readCounters } from "./counters.ts";
import { type Bench, holds, type Row, same } from "./row.ts";

const surfaces: readonly Surface[] = ["chat", "messages"];
const turns = [endlessQuestion];
/** Characters after which something happens to the answer. */
const enough = 100;
const endless = { turns, stream: true, thinking: false, maxTokens: 2000, seen: true };

/** Asks for an answer without end and does something in the middle. Returns the engine's last count on the wire and the receipt. */
async function breakOff(bench: Bench, surface: Surface, act: () => unknown, signal?: AbortSignal) {
  const { gate, tee } = bench;
  tee.take();
  let acted = false;
  let requestId = "";
  const answer = await gate
    .ask(surface, { ...endless, ...(signal && { signal }) }, (text) => {
      if (!acted && text.length > enough) {
        acted = true;
        act();
      }
    })
    .catch(() => undefined);
  requestId = answer?.requestId ?? "";
  holds("the answer ended before anything happened to it", acted);
  const [exchange] = tee.take();
  const receipt = await eventually("the receipt", () => gate.receipt(requestId));
  return { exchange, receipt, answer };
}

export const disconnectRow: Row = {
  name: "disconnect",
  async run(bench) {
    const remarks: string[] = [];
    for (const surface of surfaces) {
      const before = await readCounters(bench.engine().url, bench.driver);
      const leaving = new AbortController();
      const { exchange, receipt } = await breakOff(bench, surface, () => leaving.abort(), leaving.signal);
      holds(`${surface}: ${receipt.output_tokens} tokens charged`, receipt.output_tokens < endless.maxTokens);
      const counted: Counts | undefined = exchange && readCounts(exchange);
      if (counted !== undefined && before !== undefined) {
        holds(
          `${surface}: ${receipt.output_tokens} tokens charged, ${counted.output} counted on the wire`,
          receipt.output_tokens <= counted.output,
        );
        const made = await stillCount(bench, before);
        remarks.push(`${receipt.output_tokens} of ${made}`);
        holds(`${surface}: ${receipt.output_tokens} tokens charged, ${made} made`, receipt.output_tokens <= made);
      } else {
        remarks.push(`${receipt.output_tokens}`);
      }
    }
    return remarks.length > 0 ? `charged ${remarks.join(", ")}` : undefined;
  },
};

/** Tokens made since, once the counter stands still: the engine has stopped. */
async function stillCount({ engine, driver }: Bench, before: Counts): Promise<number> {
  let last = -1;
  return eventually("the engine stops", async () => {
    const { output = 0 } = (await readCounters(engine().url, driver)) ?? {};
    const made = output - before.output;
    const stands = made === last && made > 0;
    last = made;
    await pause(1000, "a token that is still made would be counted");
    return stands ? made : undefined;
  });
}

export const killRow: Row = {
  name: "engine killed",
  async run(bench) {
    const { exchange, receipt, answer } = await breakOff(bench, "chat", () => bench.engine().kill());
    const counted = exchange && readCounts(exchange);
    holds(`the client is told ${answer?.error ?? "nothing"}`, answer === undefined || answer.error !== undefined);
    if (counted !== undefined) {
      same("the charge for output", receipt.output_tokens, counted.output);
      same("the charge for input", receipt.input_tokens, counted.input);
    }
    return `charged ${receipt.output_tokens}${counted === undefined ? ", a lower bound" : ""}`;
  },
};

export const restartRow: Row = {
  name: "engine restarted",
  async run(bench) {
    await bench.engine().kill(); // the row before has, unless this one runs alone
    const down = await bench.gate.ask("chat", { turns: ["What do you say?"], thinking: false });
    holds(`while it is down the status is ${down.status}`, [502, 503].includes(down.status));
    holds("while it is down nothing says when to come again", down.retryAfter !== null);
    await bench.restart();
    await eventually("it serves again", async () => {
      const signal = AbortSignal.timeout(60_000);
      const answer = await bench.gate.ask("chat", { turns: ["What do you say?"], thinking: false, signal });
      return answer.text === plainAnswer;
    });
    return undefined;
  },
};
