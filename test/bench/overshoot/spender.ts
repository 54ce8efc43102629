import { setTimeout as sleep } from "node:timers/promises";
import { testModel, token } from "../../faults/metronome.ts";

/** Streams that one customer has at once. */
const streams = 128;
const maxTokens = 1024;
/** The length of the middle answer, and how far others stray from it (the deviation of its logarithm). */
const length = { median: 150, spread: 0.8 };
/** A customer that is neither served nor refused for good by then counts as neither. */
const longestMs = 180_000;
const againMs = 200;

/** What the clients of one customer saw until all of them were told that the money is spent. */
export interface Spent {
  /** Answers that began. */
  readonly answers: number;
  /** Tokens that reached the clients. */
  readonly tokens: number;
  /** How many were told that the money is spent. */
  readonly refused: number;
  /** Of them: before an answer that began later. */
  readonly early: number;
}

/** Where one customer asks, and how a refusal for good looks. */
export interface Spender {
  readonly headers: Readonly<Record<string, string>>;
  /** The addresses at this moment: one that was killed comes back on another. */
  urls(): readonly string[];
  isSpent(status: number, body: string): boolean;
  /** Called with the tokens that reached the clients so far. */
  watch(tokens: number): void;
}

/** Spends all money of a customer. */
export async function spend({ headers, urls, isSpent, watch }: Spender): Promise<Spent> {
  const begun: number[] = [];
  const refused: number[] = [];
  let tokens = 0;
  const deadline = performance.now() + longestMs;
  const ask = async (at: number, turn: number): Promise<"again" | "later" | "spent"> => {
    const all = urls();
    const answerTokens = Math.round(length.median * Math.exp(length.spread * normal()));
    const asked = performance.now();
    const response = await fetch(`${all[at % all.length]}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({
        ...{ model: testModel, stream: true, max_tokens: maxTokens },
        messages: [{ role: "user", content: `client-${at}-${turn} ${answerTokens}` }],
      }),
    });
    if (response.status !== 200) {
      if (!isSpent(response.status, await response.text())) {
        return "later";
      }
      refused.push(performance.now());
      return "spent";
    }
    begun.push(asked);
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      tokens += piece.split(token).length - 1;
      watch(tokens);
    }
    return "again";
  };
  const client = async (at: number) => {
    for (let turn = 0; performance.now() < deadline; turn++) {
      const next = await ask(at, turn).catch(() => "later");
      if (next === "spent") {
        return;
      }
      if (next === "later") {
        await sleep(againMs);
      }
    }
  };
  await Promise.all(Array.from({ length: streams }, (_, at) => client(at)));
  const last = begun.reduce((latest, at) => Math.max(latest, at), 0);
  return { answers: begun.length, tokens, refused: refused.length, early: refused.filter((at) => at < last).length };
}

function normal(): number {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
