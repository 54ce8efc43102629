import type { Exchange } from "../tee.ts";

/** Asks the engine itself for the vectors of the same inputs, as lists of numbers, and scales them to unit length. */
export async function readOwnVectors(url: string, { path, body }: Exchange): Promise<number[][]> {
  const fields = JSON.parse(body);
  const asked = { ...fields, ...("encoding_format" in fields && { encoding_format: "float" }) };
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(asked),
    signal: AbortSignal.timeout(60_000),
  });
  // biome-ignore lint/suspicious/noExplicitAny: an engine's own JSON
  const answer: any = await response.json();
  if (!response.ok) {
    throw new Error(`asked itself, it answers ${response.status}: ${JSON.stringify(answer).slice(0, 200)}`);
  }
  const vectors: number[][] =
    answer.data?.map(({ embedding }: { embedding: number[] }) => embedding) ?? answer.embeddings ?? answer;
  return vectors.map((vector) => {
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  });
}

/** The largest difference between two lists of vectors. Infinite: they are not of one shape. */
export function largestDifference(some: readonly number[][], others: readonly number[][]): number {
  const isOneShape = some.length === others.length && some.every((one, at) => one.length === others[at]?.length);
  return isOneShape
    ? Math.max(
        ...some.flatMap((one, at) => one.map((value, index) => Math.abs(value - (others[at]?.[index] as number)))),
      )
    : Number.POSITIVE_INFINITY;
}
