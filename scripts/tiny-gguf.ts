// Writes a tiny model that llama.cpp loads, for tests without a download: `node scripts/tiny-gguf.ts chat FILE`
// or `… embedding FILE`. The weights are random, so that it says nothing of sense, but always the same.
import { writeFileSync } from "node:fs";
import { createQwen3, weights } from "./tiny-gguf/qwen3.ts";
import { createRandom } from "./tiny-gguf/random.ts";
import { createVocabulary } from "./tiny-gguf/vocabulary.ts";

const vocabulary = createVocabulary();

/** As Qwen3's template: `enable_thinking: false` answers for the model that it has thought nothing. */
const chatTemplate = [
  "{%- if tools %}{{- '<|im_start|>system\\n<tools>' }}",
  "{%- for tool in tools %}{{- '\\n' + (tool | tojson) }}{%- endfor %}",
  `{{- '\\n</tools>\\nCall: <tool_call>\\n{"name": NAME, "arguments": {}}\\n</tool_call><|im_end|>\\n' }}{%- endif %}`,
  "{%- for message in messages %}",
  "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}",
  "{%- endfor %}",
  "{%- if add_generation_prompt %}",
  "{{- '<|im_start|>assistant\\n' }}",
  "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}",
  "{%- endif %}",
].join("");

/** A model of 350 kB that generates. It prefers printable characters and ends by itself. */
export function writeChatModel(path: string, template = chatTemplate): void {
  const width = 64;
  const file = createQwen3({ name: "tiny-chat", width, contextLength: 4096, vocabulary });
  file.string("tokenizer.chat_template", template);
  const output = weights(createRandom(54_321), width, vocabulary.tokens.length);
  for (const [id, token] of vocabulary.tokens.entries()) {
    const scale = token === "<|im_end|>" ? 1 : /^[ -~Ġ]{1,2}$/.test(token) ? 2 : 0;
    for (let i = id * width; i < (id + 1) * width; i++) {
      output[i] = (output[i] ?? 0) * scale;
    }
  }
  file.tensor("output.weight", [width, vocabulary.tokens.length], output);
  writeFileSync(path, file.toBuffer());
}

/** A model of 4 MB that makes vectors of 1024 dimensions, which are not of unit length, out of up to 8192 tokens. */
export function writeEmbeddingModel(path: string): void {
  const file = createQwen3({ name: "tiny-embedding", width: 1024, contextLength: 8192, vocabulary });
  file.uint32("qwen3.pooling_type", 3); // the last token's state
  writeFileSync(path, file.toBuffer());
}

if (import.meta.main) {
  const [kind, path] = process.argv.slice(2);
  if (path === undefined || (kind !== "chat" && kind !== "embedding")) {
    console.error("usage: node scripts/tiny-gguf.ts chat|embedding FILE");
    process.exit(2);
  }
  if (kind === "chat") {
    writeChatModel(path);
  } else {
    writeEmbeddingModel(path);
  }
}
