import type { Sampling } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import type { SamplingField } from "#lib/inference/sampling.ts";

/** The dialect of the sampling fields. Engines that take the same fields share a dialect. */
export type SamplingDialect = "vllm" | "sglang" | "llama.cpp" | "trtllm" | "openai" | "ollama" | "embedded";

/** An engine's name for a field, with a function for the value where it differs from ours; or "unsupported". */
type WireField = string | readonly [name: string, write: (value: never) => number] | "unsupported";

/** `top_k` where a number other than 0 stands for all candidates. */
const topKWith = (all: number) => ["top_k", (topK: number) => (topK === 0 ? all : topK)] as const;

/** A seed as a JSON number that is exact in every parser. */
const exactSeed = ["seed", (seed: bigint) => Number(BigInt.asIntN(53, seed))] as const;
const signedSeed = ["seed", (seed: bigint) => Number(BigInt.asIntN(32, seed))] as const;
const unsignedSeed = ["seed", (seed: bigint) => Number(BigInt.asUintN(32, seed))] as const;

/** Each dialect's name for each field. A new field does not compile until every dialect has an entry for it. */
const wireFields = {
  temperature: {
    vllm: "temperature",
    sglang: "temperature",
    "llama.cpp": "temperature",
    trtllm: "temperature",
    openai: "temperature",
    ollama: "temperature",
    embedded: "temperature",
  },
  topP: {
    vllm: "top_p",
    sglang: "top_p",
    "llama.cpp": "top_p",
    trtllm: "top_p",
    openai: "top_p",
    ollama: "top_p",
    embedded: "topP",
  },
  topK: {
    vllm: topKWith(-1),
    sglang: topKWith(-1),
    "llama.cpp": "top_k",
    trtllm: "top_k",
    openai: "unsupported",
    ollama: "top_k",
    embedded: "topK",
  },
  presencePenalty: {
    vllm: "presence_penalty",
    sglang: "presence_penalty",
    "llama.cpp": "presence_penalty",
    trtllm: "presence_penalty",
    openai: "presence_penalty",
    ollama: "presence_penalty",
    embedded: "presencePenalty",
  },
  frequencyPenalty: {
    vllm: "frequency_penalty",
    sglang: "frequency_penalty",
    "llama.cpp": "frequency_penalty",
    trtllm: "frequency_penalty",
    openai: "frequency_penalty",
    ollama: "frequency_penalty",
    embedded: "frequencyPenalty",
  },
  seed: {
    vllm: exactSeed,
    sglang: exactSeed,
    "llama.cpp": exactSeed,
    trtllm: exactSeed,
    openai: exactSeed,
    ollama: signedSeed,
    embedded: unsignedSeed,
  },
  minP: {
    vllm: "min_p",
    sglang: "min_p",
    "llama.cpp": "min_p",
    trtllm: "min_p",
    openai: "unsupported",
    ollama: "min_p",
    embedded: "minP",
  },
  repetitionPenalty: {
    vllm: "repetition_penalty",
    sglang: "repetition_penalty",
    "llama.cpp": "repeat_penalty",
    trtllm: "repetition_penalty",
    openai: "unsupported",
    ollama: "repeat_penalty",
    embedded: "penalty",
  },
} as const satisfies Record<SamplingField, Record<SamplingDialect, WireField>>;

/** The table's rows: objects, since taking pairs apart costs each request an iterator a field. */
const rows: readonly { readonly field: SamplingField; readonly wires: Readonly<Record<SamplingDialect, WireField>> }[] =
  Object.entries(wireFields).map(([field, wires]) => ({ field: field as SamplingField, wires }));

/** A request's sampling in a dialect's words, without absent and unsupported fields. */
export function writeSampling(sampling: Sampling, dialect: SamplingDialect): Record<string, number> {
  const written: Record<string, number> = {};
  for (const { field, wires } of rows) {
    const wire = wires[dialect];
    const value = sampling[field];
    if (value === undefined || wire === "unsupported") {
      continue;
    }
    if (typeof wire === "string") {
      written[wire] = value as number;
    } else {
      written[wire[0]] = wire[1](value as never);
    }
  }
  return written;
}
