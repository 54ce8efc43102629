import { embedderId, seenEmbedderId } from "../gate.ts";
import { readCounts } from "../told.ts";
import { largestDifference, readOwnVectors } from "./own-vectors.ts";
import { holds, type Row, same } from "./row.ts";

const inputs = ["one two three", "Grüße 😀"];

/** As far as floats of 32 bits may differ that were written, read and scaled. */
const near = 1e-5;

export const embeddingsRow: Row = {
  name: "embeddings",
  embeds: true,
  async run({ gate, embeddingTee: tee, keep }) {
    tee.take();
    const response = await gate.post("/v1/embeddings", { model: seenEmbedderId, input: inputs });
    // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
    const answer: any = await response.json();
    holds(`${response.status}: ${answer.error?.message}`, response.status === 200);
    same(
      "the dimensions",
      answer.data.map(({ embedding }: { embedding: number[] }) => embedding.length),
      [1024, 1024],
    );
    const vectors = (answer.data as { embedding: number[] }[]).map(({ embedding }) => embedding);
    for (const vector of vectors) {
      const length = Math.hypot(...vector);
      holds(`the length of a vector is ${length}`, Math.abs(length - 1) < near);
    }
    const [exchange] = tee.take();
    if (exchange === undefined) {
      throw new Error("nothing reached the engine");
    }
    const difference = largestDifference(vectors, await readOwnVectors(tee.target, exchange));
    holds(`the vectors differ from the engine's by ${difference}`, difference < near);
    holds(
      "the vectors of different inputs are the same",
      largestDifference(vectors.slice(0, 1), vectors.slice(1)) > near,
    );
    const counted = readCounts(exchange);
    same("the usage", answer.usage.prompt_tokens, counted?.input);
    const receipt = await gate.receipt(response.headers.get("x-request-id") ?? "");
    same("the receipt", receipt?.input_tokens, counted?.input);
    keep("embeddings", exchange);
    return undefined;
  },
};

export const tooLongRow: Row = {
  name: "embedding too long",
  embeds: true,
  async run({ gate }) {
    const embed = async (input: readonly string[]) => {
      const response = await gate.post("/v1/embeddings", { model: embedderId, input });
      // biome-ignore lint/suspicious/noExplicitAny: JSON as a client has it
      return { status: response.status, error: ((await response.json()) as any).error };
    };
    for (let call = 0; call < 4; call++) {
      const { status, error } = await embed(["one", " two".repeat(9000)]);
      same("the status", status, 400);
      same("the parameter", error?.param, "input");
      holds(`the refusal says ${error?.message}`, /Input 1 has|8,?192/.test(error?.message ?? ""));
    }
    same("the status of the next one", (await embed(["one two"])).status, 200);
    return undefined;
  },
};
