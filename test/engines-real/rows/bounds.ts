import { type Surface, seenModelId } from "../gate.ts";
import { contextLength } from "../model/models.ts";
import type { Exchange, Tee } from "../tee.ts";
import { readCounts } from "../told.ts";
import { holds, type Row, same } from "./row.ts";

/** A prompt that is longer than the context: a word is a token of this model. */
const tooLong = " two".repeat(contextLength + 100);

export const contextRow: Row = {
  name: "context overflow",
  async run({ gate, driver, tee, keep }) {
    if (driver.engine === "openai") {
      keep("beyond the context", await askBeyond(tee));
    }
    for (const surface of ["chat", "messages"] satisfies Surface[]) {
      const answer = await gate.ask(surface, { turns: [tooLong] });
      same(`${surface}: the status`, answer.status, 400);
      const words = surface === "chat" ? /maximum context length/ : /prompt is too long/;
      holds(`${surface}: it says ${answer.error}`, words.test(answer.error ?? ""));
      same(`${surface}: the charge`, await gate.receipt(answer.requestId), undefined);
    }
    return undefined;
  },
};

/** Asks the engine itself, through the tee: one that neither counts nor refuses answers whatever the context is. */
async function askBeyond(tee: Tee): Promise<Exchange> {
  tee.take();
  const { model } = JSON.parse(tee.latest("/v1/chat/completions")?.body ?? "{}");
  const body = {
    model,
    messages: [{ role: "user", content: tooLong }],
    max_tokens: 1,
    stream: true,
    stream_options: { include_usage: true },
  };
  const response = await fetch(`${tee.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(120_000),
  });
  await response.arrayBuffer();
  return tee.take()[0] as Exchange;
}

/** Bare text, which has no template. */
export const completionRow: Row = {
  name: "completions",
  async run({ gate, tee, keep }) {
    tee.take();
    const response = await gate.post("/v1/completions", { model: seenModelId, prompt: "Count: one", max_tokens: 4 });
    // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
    const answer: any = await response.json();
    same("the status", response.status, 200);
    same("the text", answer.choices?.[0]?.text, " two three four five");
    const [exchange] = tee.take();
    const counted = exchange && readCounts(exchange);
    same("the usage", { input: answer.usage.prompt_tokens, output: answer.usage.completion_tokens }, counted);
    const receipt = await gate.receipt(response.headers.get("x-request-id") ?? "");
    same("the receipt", receipt && { input: receipt.input_tokens, output: receipt.output_tokens }, counted);
    if (exchange !== undefined) {
      keep("completions", exchange);
    }
    return undefined;
  },
};
