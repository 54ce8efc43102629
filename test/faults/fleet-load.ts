/** What became of one streamed chat request, as its caller saw it. */
export interface Outcome {
  /** Undefined: the connection broke before an answer. */
  readonly status: number | undefined;
  /** The request's id, under which its receipt is kept. */
  readonly id: string;
  /** Whether any part of an answer came. */
  readonly began: boolean;
  /** Whether the answer came whole. */
  readonly whole: boolean;
  /** Output tokens by the final usage; 0 without one. */
  readonly tokens: number;
  /** From sending it to the end of the answer. */
  readonly ms: number;
}

/** Callers who ask for one streamed answer after the other. */
export class FleetLoad {
  /** In the order in which they ended. */
  readonly outcomes: Outcome[] = [];
  readonly #clients: Promise<void>[];
  #asking = true;

  constructor(url: string, key: string, clients: number) {
    this.#clients = Array.from({ length: clients }, async () => {
      while (this.#asking) {
        this.outcomes.push(await ask(url, key));
      }
    });
  }

  /** Lets the callers finish what they have begun. */
  async stop(): Promise<readonly Outcome[]> {
    this.#asking = false;
    await Promise.all(this.#clients);
    return this.outcomes;
  }
}

/** Asks for an answer of some tokens and reads it to its end, whatever that is. */
export async function ask(url: string, key: string, tokens = 30): Promise<Outcome> {
  const since = performance.now();
  let text = "";
  let response: Response | undefined;
  try {
    response = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: "m",
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: "user", content: `[[sim:tokens=${tokens}]] Tell me of the plains.` }],
      }),
    });
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
    }
  } catch {
    // What came until then is judged.
  }
  return {
    status: response?.status,
    id: response?.headers.get("x-request-id") ?? "",
    began: text.includes('"delta"'),
    whole: text.includes("data: [DONE]") && !text.includes('"error"'),
    tokens: Number(/"completion_tokens":(\d+)/.exec(text)?.[1] ?? 0),
    ms: performance.now() - since,
  };
}
