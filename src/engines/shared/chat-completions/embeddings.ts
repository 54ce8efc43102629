import type { EngineEmbeddings } from "../../interface.ts";
import { countIn } from "../counts.ts";
import { engineFailed } from "../faults.ts";

interface WireEmbeddings {
  readonly data?: readonly { readonly index?: number; readonly embedding?: unknown }[];
  readonly usage?: { readonly prompt_tokens?: unknown } | null;
}

/** Reads the vectors of one call in input order. Throws ENGINE_FAILED when one or the count is missing. */
export function readEmbeddings(where: string, body: unknown, inputs: number): EngineEmbeddings {
  const { data, usage } = body as WireEmbeddings;
  const vectors = new Array<Float32Array | undefined>(inputs).fill(undefined);
  for (const [position, entry] of (data ?? []).entries()) {
    vectors[entry.index ?? position] = vectorOf(entry.embedding);
  }
  const inputTokens = countIn(usage?.prompt_tokens);
  if (!inputTokens) throw engineFailed(`${where} did not count the tokens`, false);
  const whole = vectors.filter((vector) => vector !== undefined);
  if (whole.length !== inputs || vectors.length !== inputs) {
    throw engineFailed(`${where} embedded ${whole.length} of ${inputs} inputs`, true);
  }
  return { vectors: whole, inputTokens };
}

/** A vector as a list of numbers, or as base64 of float32 in little-endian order, as every platform of Node has it. */
function vectorOf(embedding: unknown): Float32Array | undefined {
  if (Array.isArray(embedding)) return Float32Array.from(embedding);
  if (typeof embedding !== "string") return undefined;
  const { buffer, byteOffset, byteLength } = Buffer.from(embedding, "base64");
  if (byteLength === 0 || byteLength % Float32Array.BYTES_PER_ELEMENT !== 0) return undefined;
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
}
