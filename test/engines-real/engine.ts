import type { EngineName } from "#lib/inference/engine-names.ts";
import type { Start } from "./programs.ts";

/** What a server is started for. */
export type Kind = "chat" | "embedding";

/** The models of the run, in both formats. */
export interface ModelFiles {
  /** A GGUF file. */
  gguf(kind: Kind): string;
  /** A folder with safetensors. */
  folder(kind: Kind): string;
}

/** One real engine: how it is had, started and asked for its own counts. */
export interface RealEngine {
  /** As people call it. */
  readonly title: string;
  readonly version: string;
  /** The `engine:` of the configuration. */
  readonly engine: EngineName;
  /** Gets it. Throws Unavailable with the reason. */
  install(): Promise<void>;
  start(kind: Kind, port: number, models: ModelFiles): Promise<Start>;
  /** Done once it serves, such as giving it a model. */
  prepare?(url: string, models: ModelFiles): Promise<void>;
  /** The model under the server's own name. */
  servedName(kind: Kind, models: ModelFiles): string;
  /** Prometheus counters of all tokens that it ever read and made. Undefined: it has none. */
  readonly counters?: { readonly input: string; readonly output: string };
  /** Whether one server has both models. */
  readonly isOneForAll?: true;
  /** Rows that it cannot do, and why. */
  readonly cannot?: Readonly<Record<string, string>>;
}
