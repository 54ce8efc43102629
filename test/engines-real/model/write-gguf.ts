import { writeFileSync } from "node:fs";
import { GgufFile } from "../../../scripts/tiny-gguf/gguf.ts";
import { addTokenizer } from "../../../scripts/tiny-gguf/qwen3.ts";
import { type Qwen3, sizes } from "./qwen3.ts";

/** Writes a model as llama.cpp and Ollama load it. */
export function writeGguf(model: Qwen3, path: string): void {
  const file = new GgufFile();
  const { headSize } = sizes;
  file.string("general.architecture", "qwen3");
  file.string("general.name", model.name);
  file.uint32("general.file_type", 0);
  const figures = {
    context_length: model.contextLength,
    embedding_length: model.width,
    block_count: 1,
    feed_forward_length: sizes.feedForward,
    "attention.head_count": sizes.heads,
    "attention.head_count_kv": sizes.kvHeads,
    "attention.key_length": headSize,
    "attention.value_length": headSize,
  };
  for (const [key, value] of Object.entries(figures)) {
    file.uint32(`qwen3.${key}`, value);
  }
  file.float32("qwen3.attention.layer_norm_rms_epsilon", 1e-6);
  file.float32("qwen3.rope.freq_base", 10_000);
  addTokenizer(file, model.vocabulary);
  if (model.chatTemplate === undefined) {
    file.uint32("qwen3.pooling_type", 3); // the last token's state
  } else {
    file.string("tokenizer.chat_template", model.chatTemplate);
  }
  for (const { gguf, shape, data } of model.tensors) {
    file.tensor(gguf, shape.toReversed(), data);
  }
  writeFileSync(path, file.toBuffer());
}
