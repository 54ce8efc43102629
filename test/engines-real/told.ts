import type { Exchange } from "./tee.ts";

/** Tokens of a request. */
export interface Counts {
  readonly input: number;
  readonly output: number;
}

/** The engine's own count in the bytes that it sent: the last one. Undefined: it sent none. */
export function readCounts(exchange: Pick<Exchange, "pieces">): Counts | undefined {
  const lines = Buffer.concat(exchange.pieces).toString().split("\n");
  return lines.map((line) => countsIn(parse(line.replace(/^data: /, "")))).findLast((counts) => counts !== undefined);
}

// biome-ignore lint/suspicious/noExplicitAny: an engine's own JSON
function countsIn(told: any): Counts | undefined {
  if (told?.usage) {
    return { input: told.usage.prompt_tokens, output: told.usage.completion_tokens ?? 0 };
  }
  if (told?.timings) {
    const { cache_n = 0, prompt_n, predicted_n } = told.timings;
    return { input: cache_n + prompt_n, output: predicted_n };
  }
  return told?.prompt_eval_count === undefined
    ? undefined
    : { input: told.prompt_eval_count, output: told.eval_count ?? 0 };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** An answer as the engine tells it. */
export interface Told {
  readonly text: string;
  readonly reasoning: string;
  /** Tool calls as "name{arguments}". */
  readonly calls: readonly string[];
  readonly counts: Counts | undefined;
}

/** Asks the engine itself what it answers to the same request, in one piece. */
export async function askAgain(url: string, { path, body }: Exchange): Promise<Told> {
  const { stream_options: _, return_token_ids: __, ...fields } = JSON.parse(body);
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...fields, stream: false }),
    signal: AbortSignal.timeout(120_000),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an engine's own JSON
  const answer: any = await response.json();
  if (!response.ok) {
    throw new Error(`asked itself, it answers ${response.status}: ${JSON.stringify(answer).slice(0, 200)}`);
  }
  const choice = answer.choices?.[0];
  const message = choice?.message ?? answer.message ?? { content: choice?.text ?? answer.response };
  return {
    text: message.content ?? "",
    reasoning: message.reasoning ?? message.reasoning_content ?? message.thinking ?? answer.thinking ?? "",
    // biome-ignore lint/suspicious/noExplicitAny: an engine's own JSON
    calls: (message.tool_calls ?? []).map(({ function: called }: any) => callText(called.name, called.arguments)),
    counts: countsIn(answer),
  };
}

/** A tool call in one word, its arguments as JSON whatever they came as. */
export function callText(name: string, given: unknown): string {
  return name + JSON.stringify(typeof given === "string" ? JSON.parse(given) : given);
}
