import type { DialectName } from "../options.ts";
import type { Dialect } from "./dialect.ts";
import { llamaCpp } from "./llama.cpp/dialect.ts";
import { ollama } from "./ollama/dialect.ts";
import { openai } from "./openai/dialect.ts";
import { sglang } from "./sglang/dialect.ts";
import { tei } from "./tei/dialect.ts";
import { transformers } from "./transformers/dialect.ts";
import { trtllm } from "./trtllm/dialect.ts";
import { vllm } from "./vllm/dialect.ts";

/** Every dialect by its name. */
export const dialects: Readonly<Record<DialectName, Dialect>> = {
  vllm,
  sglang,
  "llama.cpp": llamaCpp,
  ollama,
  trtllm,
  openai,
  transformers,
  tei,
};
