import { eventually } from "../../support/eventually.ts";
import { pause } from "../../support/pause.ts";
import { capacity, type Gate, type Question } from "../gate.ts";
import { type Bench, holds, type Row, same } from "./row.ts";

const requests = 200;
const question: Question = { turns: ["What do you say?"], thinking: false };

/** What came of many requests: how many were answered rightly, and what was said of the others. */
interface Burst {
  readonly answered: number;
  readonly failures: readonly string[];
}

/** Asks so many at once, each anew when the one before is over, in one piece and streamed in turn. */
async function ask({ gate }: Bench, atOnce: number, more: Partial<Question> = {}, act?: () => unknown): Promise<Burst> {
  const expected = await answerOf(gate);
  const failures: string[] = [];
  let [sent, answered] = [0, 0];
  const one = async () => {
    while (sent < requests) {
      const stream = sent++ % 2 === 0;
      const { status, text, error } = await gate.ask("chat", { ...question, stream, ...more });
      if (text === expected) {
        answered++;
      } else {
        failures.push(`${status} ${error}`);
      }
      if (answered + failures.length === requests / 4) {
        act?.();
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return { answered, failures };
}

/** The engine's answer when nothing else goes on. Waits for one. */
function answerOf(gate: Gate): Promise<string> {
  return eventually("it answers", async () => (await gate.ask("chat", question)).text);
}

function allAnswered(what: string, { failures }: Burst): void {
  holds(`${what}: ${failures.length} of ${requests} failed: ${failures[0]}`, failures.length === 0);
}

export const burstRow: Row = {
  name: "burst",
  async run(bench) {
    for (const atOnce of [capacity / 2, capacity, capacity * 2]) {
      allAnswered(`${atOnce} at once`, await ask(bench, atOnce));
    }
    return undefined;
  },
};

export const closingProxyRow: Row = {
  name: "closing proxy",
  async run(bench) {
    bench.tee.closes = true;
    try {
      allAnswered("behind it", await ask(bench, capacity * 2, { seen: true }));
    } finally {
      bench.tee.closes = false;
    }
    return undefined;
  },
};

export const idleRow: Row = {
  name: "idle, then asked",
  async run({ gate }) {
    const expected = await answerOf(gate);
    for (const idleMs of [900, 2900, 4900, 5100]) {
      await gate.ask("chat", question);
      await pause(idleMs, "the connection idles, and its server may close it");
      same(`the answer after ${idleMs} ms`, (await gate.ask("chat", question)).text, expected);
    }
    return undefined;
  },
};

export const restartInBurstRow: Row = {
  name: "restart in a burst",
  async run(bench) {
    let restarting: Promise<void> | undefined;
    const { answered, failures } = await ask(bench, capacity, {}, () => {
      restarting ??= bench.restart();
    });
    await restarting;
    const others = failures.filter((failure) => !/^(200|502|503) /.test(failure));
    holds(`while it restarts somebody is told ${others[0]}`, others.length === 0);
    allAnswered("afterwards", await ask(bench, capacity));
    return `${answered} of ${requests} answered`;
  },
};
