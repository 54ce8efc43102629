import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Qwen3, sizes } from "./qwen3.ts";

/** Writes a model as vLLM, SGLang and transformers load it: a folder. */
export function writeSafetensors(model: Qwen3, folder: string): void {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: object) => writeFileSync(join(folder, name), JSON.stringify(content));
  const { vocabulary } = model;
  const end = vocabulary.idOf("<|im_end|>");
  write("config.json", {
    architectures: ["Qwen3ForCausalLM"],
    model_type: "qwen3",
    hidden_size: model.width,
    intermediate_size: sizes.feedForward,
    num_hidden_layers: 1,
    num_attention_heads: sizes.heads,
    num_key_value_heads: sizes.kvHeads,
    head_dim: sizes.headSize,
    vocab_size: vocabulary.tokens.length,
    max_position_embeddings: model.contextLength,
    rms_norm_eps: 1e-6,
    rope_theta: 10_000,
    hidden_act: "silu",
    tie_word_embeddings: model.chatTemplate === undefined,
    torch_dtype: "float32",
    eos_token_id: end,
    bos_token_id: null,
  });
  write("generation_config.json", { eos_token_id: end, pad_token_id: vocabulary.idOf("<|endoftext|>") });
  write("tokenizer.json", tokenizer(model));
  write("tokenizer_config.json", {
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: "<|im_end|>",
    pad_token: "<|endoftext|>",
    model_max_length: model.contextLength,
    clean_up_tokenization_spaces: false,
    chat_template: model.chatTemplate,
  });
  writeFileSync(join(folder, "model.safetensors"), tensorFile(model));
}

/** The tokenizer in the form of the library `tokenizers`: bytes, three merges, and words that are taken whole. */
function tokenizer({ vocabulary: { tokens, types, merges } }: Qwen3): object {
  const normal = tokens.flatMap((token, id) => (types[id] === 1 ? [[token, id] as const] : []));
  const added = tokens.flatMap((content, id) =>
    types[id] === 1
      ? []
      : [
          {
            id,
            content,
            special: types[id] === 3,
            single_word: false,
            lstrip: false,
            rstrip: false,
            normalized: false,
          },
        ],
  );
  const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: false, use_regex: true };
  return {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: added,
    normalizer: null,
    pre_tokenizer: bytes,
    post_processor: bytes,
    decoder: bytes,
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: "",
      end_of_word_suffix: "",
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: false,
      vocab: Object.fromEntries(normal),
      merges,
    },
  };
}

/** https://github.com/huggingface/safetensors: the length of a JSON header, the header, the values. */
function tensorFile({ tensors }: Qwen3): Buffer {
  let offset = 0;
  const entries = tensors.map(({ safetensors, shape, data }) => {
    const start = offset;
    offset += data.byteLength;
    return [safetensors, { dtype: "F32", shape, data_offsets: [start, offset] }] as const;
  });
  const header = Buffer.from(JSON.stringify({ __metadata__: { format: "pt" }, ...Object.fromEntries(entries) }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  const values = tensors.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength));
  return Buffer.concat([length, header, ...values]);
}
