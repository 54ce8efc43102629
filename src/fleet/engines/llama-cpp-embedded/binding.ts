import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { isBinary, isClone, packagedFile } from "#lib/files/assets.ts";

// The part of node-llama-cpp 3.22 and @huggingface/jinja 0.5 that is used. These packages are installed on demand, so
// that their own types are not available to the compiler.

/** A token id. */
export type Token = number & { readonly __token: never };

export interface Llama {
  loadModel(options: {
    readonly modelPath: string;
    /** Receives the loaded part, 0 to 1. */
    readonly onLoadProgress?: (part: number) => void;
  }): Promise<Model>;
  /** Throws on a schema with unknown features. */
  createGrammarForJsonSchema(schema: object): Promise<Grammar>;
  dispose(): Promise<void>;
}

/** The form that a text must have. */
export type Grammar = object;

export interface Model {
  readonly trainContextSize: number;
  readonly tokens: {
    readonly bosString: string | null;
    readonly eosString: string | null;
    readonly bos: Token | null;
    readonly shouldPrependBosToken: boolean;
  };
  readonly fileInfo: { readonly metadata: Metadata };
  tokenize(text: string, specialTokens: boolean): Token[];
  detokenize(tokens: readonly Token[], specialTokens: boolean, lastTokens: readonly Token[]): string;
  isEogToken(token: Token): boolean;
  createContext(options: {
    readonly contextSize: number;
    readonly sequences: number;
    readonly threads: number;
  }): Promise<Context>;
  createEmbeddingContext(options: {
    readonly contextSize: number;
    readonly batchSize: number;
    readonly threads: number;
  }): Promise<EmbeddingContext>;
}

export interface Context {
  readonly contextSize: number;
  readonly batchSize: number;
  getSequence(): Sequence;
}

/** One conversation's place in a context. */
export interface Sequence {
  /** The tokens that it holds. */
  readonly nextTokenIndex: number;
  clearHistory(): Promise<void>;
  /** Keeps the common beginning with `tokens` and drops the rest. */
  adaptStateToTokens(tokens: Token[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: Token[]): Promise<void>;
  evaluate(tokens: Token[], options: SamplingOptions): AsyncGenerator<Token, void, void>;
}

export interface SamplingOptions {
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly seed?: number;
  readonly repeatPenalty?: {
    readonly punishTokens: () => Token[];
    readonly penalty: number;
    readonly frequencyPenalty?: number;
    readonly presencePenalty?: number;
  };
  readonly yieldEogToken: boolean;
  readonly grammarEvaluationState?: GrammarState;
}

/** How much of a grammar one text has passed. */
export type GrammarState = object;

export interface EmbeddingContext {
  getEmbeddingFor(tokens: Token[]): Promise<{ readonly vector: readonly number[] }>;
  calculateInputLength(tokens: Token[]): number;
}

/** Metadata of a model file, nested at the dots of its keys. Values may be anything. */
export type Metadata = Readonly<Record<string, unknown>>;

/** A chat template in Jinja. */
export interface Template {
  render(variables: Readonly<Record<string, unknown>>): string;
}

/** The exports of the packages. */
export interface Binding {
  getLlama(options: {
    readonly gpu: false;
    readonly build: "never";
    readonly skipDownload: true;
    readonly progressLogs: false;
    readonly maxThreads: number;
    readonly logLevel: "error";
  }): Promise<Llama>;
  readGgufFileInfo(path: string): Promise<{ readonly metadata: Metadata }>;
  readonly GrammarState: new (options: { readonly model: Model; readonly grammar: Grammar }) => GrammarState;
  readonly Template: new (source: string) => Template;
}

/**
 * The folder into which `npm run install:llama` installs the packages. From there Node.js also finds packages installed
 * beside the program.
 */
const folder = packagedFile("native/llama-cpp/package.json");
const remedy = isClone ? "npm run install:llama" : "npm install node-llama-cpp@3 beside tollgate";

/** Loads the packages. When they are absent, throws an error that says how to install them. */
export async function loadBinding(): Promise<Binding> {
  if (isBinary) {
    throw new Error(
      "this binary has no llama.cpp in it: start llama-server and name it with --server, or use the npm package (npm install tollgate node-llama-cpp@3, then npx tollgate --gguf FILE)",
    );
  }
  const { resolve } = createRequire(folder);
  let paths: string[];
  try {
    paths = [resolve("node-llama-cpp"), resolve("@huggingface/jinja")];
  } catch {
    throw new Error(`llama.cpp is not installed. Install it with: ${remedy}`);
  }
  const [llama, jinja] = await Promise.all(paths.map((path) => import(pathToFileURL(path).href)));
  const { getLlama, readGgufFileInfo, LlamaGrammarEvaluationState: GrammarState } = llama;
  return { getLlama, readGgufFileInfo, GrammarState, Template: jinja.Template };
}
