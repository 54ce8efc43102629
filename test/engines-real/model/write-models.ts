import { join } from "node:path";
import { cached } from "../cache.ts";
import type { ModelFiles } from "../engine.ts";
import { chatModel, embeddingModel } from "./models.ts";
import { writeGguf } from "./write-gguf.ts";
import { writeSafetensors } from "./write-safetensors.ts";

/** Makes both models in both formats. */
export function writeModels(): ModelFiles {
  const folder = cached("models");
  for (const [name, model] of [
    ["chat", chatModel()],
    ["embedding", embeddingModel()],
  ] as const) {
    writeGguf(model, join(folder, `${name}.gguf`));
    writeSafetensors(model, join(folder, name));
  }
  return { gguf: (kind) => join(folder, `${kind}.gguf`), folder: (kind) => join(folder, kind) };
}
