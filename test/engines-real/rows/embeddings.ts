import { embedderId } from "../gate.ts";
import { readCounts } from "../told.ts";
import { holds, type Row, same } from "./row.ts";

const inputs = ["one two three", "Grüße 😀"];

/** As far as two engines' floats may differ. */
const near = 1e-3;

export const embeddingsRow: Row = {
  name: "embeddings",
  async run({ gate, embeddingTee: tee, keep }) {
    tee.take();
    const response = await gate.post("/v1/embeddings", { model: embedderId, input: inputs });
    // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
    const answer: any = await response.json();
    holds(`${response.status}: ${answer.error?.message}`, response.status === 200);
    same(
      "the dimensions",
      answer.data.map(({ embedding }: { embedding: number[] }) => embedding.length),
      [1024, 1024],
    );
    for (const { embedding } of answer.data as { embedding: number[] }[]) {
      const length = Math.hypot(...embedding);
      holds(`the length of a vector is ${length}`, Math.abs(length - 1) < near);
    }
    const [exchange] = tee.take();
    const counted = exchange && readCounts(exchange);
    same("the usage", answer.usage.prompt_tokens, counted?.input);
    const receipt = await gate.receipt(response.headers.get("x-request-id") ?? "");
    same("the receipt", receipt?.input_tokens, counted?.input);
    const tooLong = await gate.post("/v1/embeddings", { model: embedderId, input: ["one", " two".repeat(9000)] });
    // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
    const refused: any = await tooLong.json();
    same("the status of an input that is too long", tooLong.status, 400);
    holds(`the refusal says ${refused.error?.message}`, /Input 1 has|8,?192/.test(refused.error?.message ?? ""));
    if (exchange !== undefined) {
      keep("embeddings", exchange);
    }
    return undefined;
  },
};
