import type { Vocabulary } from "../../../scripts/tiny-gguf/vocabulary.ts";

/** A tensor as both formats name it; the last dimension's values stand next to each other. */
export interface Tensor {
  readonly gguf: string;
  readonly safetensors: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** A Qwen3 model of one layer, in no file format yet. */
export interface Qwen3 {
  readonly name: string;
  readonly width: number;
  readonly contextLength: number;
  readonly vocabulary: Vocabulary;
  /** Undefined: it is no chat model. */
  readonly chatTemplate?: string;
  readonly tensors: readonly Tensor[];
}

/** Sizes that all engines have kernels for. */
export const sizes = { heads: 2, kvHeads: 1, headSize: 64, feedForward: 64 };

/** The values of a matrix of so many inputs and outputs. */
export type Fill = (inputs: number, outputs: number) => Float32Array;

/** The tensors of a layer that `fill` makes, and of the norms that leave everything as it is. */
export function layerTensors(width: number, fill: Fill): Tensor[] {
  const { heads, kvHeads, headSize, feedForward } = sizes;
  const matrix = (gguf: string, safetensors: string, inputs: number, outputs: number): Tensor => ({
    gguf: `blk.0.${gguf}.weight`,
    safetensors: `model.layers.0.${safetensors}.weight`,
    shape: [outputs, inputs],
    data: fill(inputs, outputs),
  });
  const norm = (gguf: string, safetensors: string, size: number): Tensor => ({
    gguf: `blk.0.${gguf}.weight`,
    safetensors: `model.layers.0.${safetensors}.weight`,
    shape: [size],
    data: new Float32Array(size).fill(1),
  });
  return [
    norm("attn_norm", "input_layernorm", width),
    norm("ffn_norm", "post_attention_layernorm", width),
    norm("attn_q_norm", "self_attn.q_norm", headSize),
    norm("attn_k_norm", "self_attn.k_norm", headSize),
    matrix("attn_q", "self_attn.q_proj", width, heads * headSize),
    matrix("attn_k", "self_attn.k_proj", width, kvHeads * headSize),
    matrix("attn_v", "self_attn.v_proj", width, kvHeads * headSize),
    matrix("attn_output", "self_attn.o_proj", heads * headSize, width),
    matrix("ffn_gate", "mlp.gate_proj", width, feedForward),
    matrix("ffn_up", "mlp.up_proj", width, feedForward),
    matrix("ffn_down", "mlp.down_proj", feedForward, width),
    {
      gguf: "output_norm.weight",
      safetensors: "model.norm.weight",
      shape: [width],
      data: new Float32Array(width).fill(1),
    },
  ];
}
