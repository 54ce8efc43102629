import type { EngineEmbeddings } from "../../interface.ts";
import { countIn } from "../counts.ts";
import { vectorIn } from "../embeddings/vectors.ts";
import { engineFailed } from "../faults.ts";

interface WireEmbeddings {
  readonly data?: unknown;
  readonly usage?: { readonly prompt_tokens?: unknown } | null;
}

type WireEmbedding = { readonly index?: unknown; readonly embedding?: unknown } | null | undefined;

/** The most bytes of an answer with this many vectors: 8,192 dimensions each, written as doubles. */
export function mostEmbeddingBytes(inputs: number): number {
  return 65_536 + inputs * 262_144;
}

/** Reads the vectors of one call in input order. Throws ENGINE_FAILED when a vector or the count is missing. */
export function readEmbeddings(where: string, body: unknown, inputs: number): EngineEmbeddings {
  const { data, usage } = body as WireEmbeddings;
  const entries = Array.isArray(data) ? (data as readonly WireEmbedding[]) : [];
  if (entries.length !== inputs) {
    throw engineFailed(`${where} embedded ${entries.length} of ${inputs} inputs`, true);
  }
  const vectors = new Array<Float32Array | undefined>(inputs).fill(undefined);
  for (const [position, entry] of entries.entries()) {
    const at = countIn(entry?.index ?? position) ?? inputs;
    if (at < inputs) {
      vectors[at] = readVector(entry?.embedding);
    }
  }
  const inputTokens = countIn(usage?.prompt_tokens);
  if (!inputTokens) {
    throw engineFailed(`${where} did not count the tokens`, false);
  }
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length !== inputs) {
    throw engineFailed(`${where} embedded ${whole.length} of ${inputs} inputs`, true);
  }
  return { vectors: whole, inputTokens };
}

/**
 * Reads a vector: a list of numbers, or base64 of float32 in little-endian order, which is the byte order of all of
 * Node's platforms.
 */
function readVector(embedding: unknown): Float32Array | undefined {
  if (typeof embedding !== "string") {
    return vectorIn(embedding);
  }
  const { buffer, byteOffset, byteLength } = Buffer.from(embedding, "base64");
  if (byteLength === 0 || byteLength % Float32Array.BYTES_PER_ELEMENT !== 0) {
    return undefined;
  }
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}
