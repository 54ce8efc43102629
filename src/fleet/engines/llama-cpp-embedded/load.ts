import { stat } from "node:fs/promises";
import type { Tool } from "#gen/tollgate/inference/v1/conversation_pb.js";
import { fieldsIn, figureIn } from "../shared/inspection/told.ts";
import {
  type Binding,
  type EmbeddingContext,
  type GrammarState,
  type Llama,
  loadBinding,
  type Model,
  type Template,
} from "./binding.ts";
import { Sequences } from "./sequences.ts";
import { takesTools, toGrammar } from "./tools.ts";

/** A model in memory, ready to work. */
export type Loaded = LoadedGenerator | LoadedEmbedder;

interface LoadedModel {
  readonly model: Model;
  readonly template: Template;
  /** Whether the model can call tools. */
  readonly takesTools: boolean;
  readonly contextLength: number;
  dispose(): Promise<void>;
}

export interface LoadedGenerator extends LoadedModel {
  readonly kind: "generation";
  /** Returns a grammar that forces the answer to be a call of one of the tools. */
  demandCall(tools: readonly Tool[]): Promise<GrammarState>;
  readonly sequences: Sequences;
}

export interface LoadedEmbedder extends LoadedModel {
  readonly kind: "embedding";
  readonly context: EmbeddingContext;
}

/** The template for a model file without one. */
const chatMl =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/** How to load a model. */
export interface LoadSettings {
  readonly kind: Loaded["kind"];
  readonly contextLength: number;
  readonly capacity: number;
  readonly threads: number;
  /** Receives how many bytes are in memory. */
  readonly onLoading?: (done: number, total: number) => void;
}

/** Loads a model file. Rejects when llama.cpp is not installed or cannot read it. */
export async function load(path: string, settings: LoadSettings): Promise<Loaded> {
  const binding = await loadBinding();
  const llama = await binding.getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    maxThreads: settings.threads,
    logLevel: "error",
  });
  try {
    const { size } = await stat(path);
    const onLoadProgress = (part: number) => settings.onLoading?.(Math.floor(part * size), size);
    const model = await llama.loadModel({ modelPath: path, onLoadProgress });
    return await prepare(binding, llama, model, settings);
  } catch (error) {
    await llama.dispose();
    throw error;
  }
}

async function prepare(binding: Binding, llama: Llama, model: Model, settings: LoadSettings): Promise<Loaded> {
  const { chat_template: told } = fieldsIn(model.fileInfo.metadata.tokenizer);
  const source = typeof told === "string" ? told : chatMl;
  const { kind, capacity, threads } = settings;
  const contextLength = Math.min(settings.contextLength, figureIn(model.trainContextSize) || settings.contextLength);
  const loaded = {
    model,
    template: new binding.Template(source),
    takesTools: takesTools(source),
    contextLength,
    dispose: () => llama.dispose(),
  };
  if (kind === "embedding") {
    // An input is read in one batch, so the batch size must fit the longest input.
    const context = await model.createEmbeddingContext({
      contextSize: contextLength,
      batchSize: contextLength,
      threads,
    });
    return { ...loaded, kind, context };
  }
  const context = await model.createContext({ contextSize: contextLength, sequences: capacity, threads });
  return {
    ...loaded,
    kind,
    sequences: new Sequences(context, capacity),
    demandCall: async (tools) => new binding.GrammarState({ model, grammar: await toGrammar(llama, tools) }),
  };
}
