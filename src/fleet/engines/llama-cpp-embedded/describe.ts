import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import type { Fields } from "../shared/chat-completions/dialect.ts";
import { fieldsIn, figureIn, textIn } from "../shared/inspection/told.ts";
import { type Binding, loadBinding } from "./binding.ts";

/** The longest context in process, in tokens: a longer one needs more memory than a laptop has. */
const longestContext = 8192;

/** Requests that run at once. */
const capacity = 2;

/** The configuration of a model that runs in process. */
export interface GgufModel {
  readonly id: string;
  readonly kind: "generation" | "embedding";
  readonly context_length: number;
  readonly dimensions?: number;
  readonly thinking?: { readonly mode: "always" | "default_on" };
  readonly servers: [{ readonly url: string; readonly engine: "llama.cpp"; readonly capacity: number }];
}

/** Reads a model's configuration from its file. Throws when llama.cpp is not installed or the file is not a model. */
export async function describeGguf(path: string): Promise<GgufModel> {
  const binding = await loadBinding();
  return toModel(path, fieldsIn((await readMetadata(binding, path)).metadata));
}

async function readMetadata(binding: Binding, path: string) {
  try {
    return await binding.readGgufFileInfo(path);
  } catch (error) {
    throw new Error(`${path} is not a GGUF model file`, { cause: error });
  }
}

/** Reads the fields of the right type. Values of a wrong type are ignored. */
function toModel(path: string, metadata: Fields): GgufModel {
  const traits = fieldsIn(metadata[textIn(fieldsIn(metadata.general).architecture) ?? ""]);
  const embeds = (figureIn(traits.pooling_type) ?? 0) > 0; // 0 or absent: the model generates
  const dimensions = figureIn(traits.embedding_length);
  const { chat_template: template } = fieldsIn(metadata.tokenizer);
  const thinking = toThinking(typeof template === "string" ? template : "");
  return {
    id: basename(path).replace(/\.gguf$/i, ""),
    kind: embeds ? "embedding" : "generation",
    context_length: Math.min(figureIn(traits.context_length) || longestContext, longestContext),
    ...(embeds && dimensions && { dimensions }),
    ...(!embeds && thinking && { thinking }),
    servers: [{ url: pathToFileURL(path).href, engine: "llama.cpp", capacity }],
  };
}

/**
 * A template that mentions the switch belongs to a model that thinks by default. A template that opens a thinking block
 * belongs to a model that always thinks.
 */
function toThinking(template: string): GgufModel["thinking"] {
  if (/\benable_thinking\b/.test(template)) {
    return { mode: "default_on" };
  }
  return template.includes("<think>") ? { mode: "always" } : undefined;
}
