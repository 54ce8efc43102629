import { weights } from "../../../scripts/tiny-gguf/qwen3.ts";
import { createRandom } from "../../../scripts/tiny-gguf/random.ts";
import { type Fill, layerTensors, type Qwen3, type Tensor } from "./qwen3.ts";
import { chatTemplate } from "./said.ts";
import { createSpokenVocabulary } from "./vocabulary.ts";

/** Tokens of a prompt and its answer; every engine is started with it. */
export const contextLength = 4096;

/** So large that no temperature in use lets another token through. */
const certainty = 8;

/** The model that says what `said.ts` has: its layer adds nothing, its output is the successor of the last token. */
export function chatModel(): Qwen3 {
  const vocabulary = createSpokenVocabulary();
  const tokens = vocabulary.tokens.length;
  const embedding = new Float32Array(tokens * tokens);
  const output = new Float32Array(tokens * tokens);
  for (let id = 0; id < tokens; id++) {
    embedding[id * tokens + id] = 1;
    output[(vocabulary.successors.get(id) ?? vocabulary.idOf("<|im_end|>")) * tokens + id] = certainty;
  }
  const nothing: Fill = (inputs, outputs) => new Float32Array(inputs * outputs);
  const tensors = [
    ...edges(tokens, tokens, embedding),
    ...layerTensors(tokens, nothing),
    { gguf: "output.weight", safetensors: "lm_head.weight", shape: [tokens, tokens], data: output },
  ];
  return { name: "tiny-chat", width: tokens, contextLength, vocabulary, chatTemplate, tensors };
}

/** A model of random weights that makes vectors of 1024 dimensions out of up to 8192 tokens. */
export function embeddingModel(): Qwen3 {
  const width = 1024;
  const vocabulary = createSpokenVocabulary();
  const tokens = vocabulary.tokens.length;
  const random = createRandom(12_345);
  const fill: Fill = (inputs, outputs) => weights(random, inputs, outputs);
  const tensors = [...edges(width, tokens, fill(width, tokens)), ...layerTensors(width, fill)];
  return { name: "tiny-embedding", width, contextLength: 8192, vocabulary, tensors };
}

const edges = (width: number, tokens: number, data: Float32Array): Tensor[] => [
  { gguf: "token_embd.weight", safetensors: "model.embed_tokens.weight", shape: [tokens, width], data },
];
