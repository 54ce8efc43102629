import { tokenWord } from "./marker.ts";

// The bytes that the load target sends, in the shapes of vLLM, encoded once for each model and length.

const promptTokens = 16;
const encoded = new Map<string, unknown>();

function once<T>(key: string, make: () => T): T {
  let made = encoded.get(key) as T | undefined;
  if (made === undefined) {
    made = make();
    encoded.set(key, made);
  }
  return made;
}

function usage(output: number) {
  return { prompt_tokens: promptTokens, total_tokens: promptTokens + output, completion_tokens: output };
}

function event(value: unknown): Buffer {
  return Buffer.from(`data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`);
}

/**
 * The writes of a streamed answer: the role with the first token, the further tokens, the final usage with the end. Of
 * each `interval` of tokens all but the last one have no write: they leave with it.
 */
export function streamChunks(
  model: string,
  tokens: number,
  { runningUsage, interval }: { readonly runningUsage: boolean; readonly interval: number },
): readonly (Buffer | undefined)[] {
  return once(`stream ${model} ${tokens} ${runningUsage} ${interval}`, () => {
    const head = { id: "chatcmpl-bench", object: "chat.completion.chunk", created: 1767225600, model };
    const chunk = (delta: object, output: number, finish: string | null) =>
      event({
        ...head,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish, token_ids: null }],
        ...(runningUsage ? { usage: usage(output) } : {}),
      });
    let held = 0;
    const spoken = Array.from({ length: tokens }, (_, at) => {
      held += 1;
      const isLast = at + 1 === tokens;
      if (at > 0 && !isLast && held < interval) {
        return undefined;
      }
      const content = ` ${tokenWord}`.repeat(held);
      held = 0;
      return chunk({ content }, at + 1, isLast ? "length" : null);
    });
    const [first = Buffer.alloc(0), ...rest] = spoken;
    return [
      Buffer.concat([chunk({ role: "assistant", content: "" }, 0, null), first]),
      ...rest,
      Buffer.concat([event({ ...head, choices: [], usage: usage(tokens) }), event("[DONE]")]),
    ];
  });
}

/** The same answer whole. */
export function plainAnswer(model: string, tokens: number): Buffer {
  return once(`plain ${model} ${tokens}`, () =>
    Buffer.from(
      JSON.stringify({
        id: "chatcmpl-bench",
        object: "chat.completion",
        created: 1767225600,
        model,
        choices: [
          {
            index: 0,
            message: { role: "assistant", content: ` ${tokenWord}`.repeat(tokens), reasoning: null, tool_calls: [] },
            logprobs: null,
            finish_reason: "length",
          },
        ],
        usage: usage(tokens),
      }),
    ),
  );
}

/** Vectors of 1024 dimensions and length one, the same for every input. */
export function embeddingsAnswer(inputs: number, base64: boolean): Buffer {
  return once(`embeddings ${inputs} ${base64}`, () => {
    const raw = Float32Array.from({ length: 1024 }, (_, at) => Math.sin(at * 12.9898) - 0.01);
    const length = Math.hypot(...raw);
    const vector = raw.map((value) => value / length);
    const embedding = base64 ? Buffer.from(vector.buffer).toString("base64") : [...vector];
    const data = Array.from({ length: inputs }, (_, index) => ({ object: "embedding", index, embedding }));
    const tokens = inputs * promptTokens;
    return Buffer.from(
      JSON.stringify({
        id: "embd-bench",
        object: "list",
        model: "embed",
        data,
        usage: { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 },
      }),
    );
  });
}
