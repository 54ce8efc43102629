import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { type Binding, loadBinding, type Metadata } from "./binding.ts";

/** The most context that a model gets in process: a longer one costs memory that a laptop has not. */
const longestContext = 8192;

/** Requests that run at once. */
const capacity = 2;

/** What the configuration says of a model that runs in process. */
export interface GgufModel {
  readonly id: string;
  readonly kind: "generation" | "embedding";
  readonly context_length: number;
  readonly dimensions?: number;
  readonly thinking?: { readonly mode: "always" | "default_on" };
  readonly servers: [{ readonly url: string; readonly engine: "llama.cpp"; readonly capacity: number }];
}

/**
 * Reads from a model file how it is to be configured. Throws when llama.cpp is not installed or the file
 * is not a model.
 */
export async function describeGguf(path: string): Promise<GgufModel> {
  const binding = await loadBinding();
  return ggufModel(path, (await readMetadata(binding, path)).metadata);
}

async function readMetadata(binding: Binding, path: string) {
  try {
    return await binding.readGgufFileInfo(path);
  } catch (error) {
    throw new Error(`${path} is not a GGUF model file`, { cause: error });
  }
}

function ggufModel(path: string, metadata: Metadata): GgufModel {
  const traits = metadata[metadata.general.architecture] as Traits | undefined;
  const embeds = (traits?.pooling_type ?? 0) > 0;
  const thinking = thinkingOf(metadata.tokenizer?.chat_template ?? "");
  return {
    id: basename(path).replace(/\.gguf$/i, ""),
    kind: embeds ? "embedding" : "generation",
    context_length: Math.min(traits?.context_length ?? longestContext, longestContext),
    ...(embeds && traits?.embedding_length && { dimensions: traits.embedding_length }),
    ...(!embeds && thinking && { thinking }),
    servers: [{ url: pathToFileURL(path).href, engine: "llama.cpp", capacity }],
  };
}

/** A template that knows the switch belongs to a model that thinks by default; one that opens a block, to one that always does. */
function thinkingOf(template: string): GgufModel["thinking"] {
  if (/\benable_thinking\b/.test(template)) {
    return { mode: "default_on" };
  }
  return template.includes("<think>") ? { mode: "always" } : undefined;
}

/** What a file tells under its architecture's name. */
interface Traits {
  readonly context_length?: number;
  readonly embedding_length?: number;
  /** 0 or absent: the model generates. */
  readonly pooling_type?: number;
}
