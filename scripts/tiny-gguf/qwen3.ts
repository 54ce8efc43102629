import { GgufFile } from "./gguf.ts";
import { createRandom } from "./random.ts";
import type { Vocabulary } from "./vocabulary.ts";

const layers = 2;
const heads = 4;
const kvHeads = 2;
const headSize = 16; // set apart from the width, so that a wide model stays small
const feedForward = 64;

/** The sizes in which the two models differ. */
export interface Shape {
  readonly name: string;
  readonly width: number;
  readonly contextLength: number;
  readonly vocabulary: Vocabulary;
}

/** A Qwen3 model of random weights, without its output layer. */
export function createQwen3({ name, width, contextLength, vocabulary }: Shape): GgufFile {
  const file = new GgufFile();
  file.string("general.architecture", "qwen3");
  file.string("general.name", name);
  file.uint32("general.file_type", 0);
  file.uint32("qwen3.context_length", contextLength);
  file.uint32("qwen3.embedding_length", width);
  file.uint32("qwen3.block_count", layers);
  file.uint32("qwen3.feed_forward_length", feedForward);
  file.uint32("qwen3.attention.head_count", heads);
  file.uint32("qwen3.attention.head_count_kv", kvHeads);
  file.uint32("qwen3.attention.key_length", headSize);
  file.uint32("qwen3.attention.value_length", headSize);
  file.float32("qwen3.attention.layer_norm_rms_epsilon", 1e-6);
  file.float32("qwen3.rope.freq_base", 10_000);
  addTokenizer(file, vocabulary);
  addLayers(file, width, vocabulary.tokens.length);
  return file;
}

export function addTokenizer(file: GgufFile, vocabulary: Vocabulary): void {
  file.string("tokenizer.ggml.model", "gpt2");
  file.string("tokenizer.ggml.pre", "qwen2");
  file.strings("tokenizer.ggml.tokens", vocabulary.tokens);
  file.int32s("tokenizer.ggml.token_type", vocabulary.types);
  file.strings("tokenizer.ggml.merges", vocabulary.merges);
  file.uint32("tokenizer.ggml.eos_token_id", vocabulary.idOf("<|im_end|>"));
  file.uint32("tokenizer.ggml.bos_token_id", vocabulary.idOf("<|endoftext|>"));
  file.bool("tokenizer.ggml.add_bos_token", false);
}

function addLayers(file: GgufFile, width: number, tokens: number): void {
  const random = createRandom(12_345);
  const matrix = (name: string, inputs: number, outputs: number) =>
    file.tensor(`${name}.weight`, [inputs, outputs], weights(random, inputs, outputs));
  const norm = (name: string, size: number) => file.tensor(`${name}.weight`, [size], new Float32Array(size).fill(1));
  matrix("token_embd", width, tokens);
  norm("output_norm", width);
  for (let layer = 0; layer < layers; layer++) {
    const block = `blk.${layer}`;
    norm(`${block}.attn_norm`, width);
    norm(`${block}.ffn_norm`, width);
    norm(`${block}.attn_q_norm`, headSize);
    norm(`${block}.attn_k_norm`, headSize);
    matrix(`${block}.attn_q`, width, heads * headSize);
    matrix(`${block}.attn_k`, width, kvHeads * headSize);
    matrix(`${block}.attn_v`, width, kvHeads * headSize);
    matrix(`${block}.attn_output`, heads * headSize, width);
    matrix(`${block}.ffn_gate`, width, feedForward);
    matrix(`${block}.ffn_up`, width, feedForward);
    matrix(`${block}.ffn_down`, feedForward, width);
  }
}

/** A layer's weights, scaled so that its outputs are about as large as its inputs. */
export function weights(random: () => number, inputs: number, outputs: number): Float32Array {
  return Float32Array.from({ length: inputs * outputs }, () => (random() * 1.5) / Math.sqrt(inputs));
}
