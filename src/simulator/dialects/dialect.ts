import type { IncomingMessage, ServerResponse } from "node:http";
import type { Model, Run } from "../engine/model.ts";
import type { EngineError } from "../engine-error.ts";
import type { Fault, FaultPanel } from "../faults.ts";
import type { Json, SamplingRequest } from "../http/chat-request.ts";
import type { DialectName, Settings } from "../options.ts";

/** How one engine speaks HTTP. */
export interface Dialect {
  readonly name: DialectName;
  /** Whether a model name that it does not know stands for the model that it has. */
  readonly anyModelName: boolean;
  /** Whether embedding inputs that are too long are cut silently, unless the server was told otherwise. */
  readonly truncates: boolean;
  /** The only fields that a chat request may have. Undefined: others are ignored. */
  readonly chatFields?: ReadonlySet<string>;
  /** Its endpoints beside chat, completions and embeddings. */
  readonly routes: Routes;
  chat(call: Call): Encoder;
  completion(call: Call): Encoder;
  /** The `usage` of embeddings. */
  embeddingUsage(tokens: number): unknown;
  /** The error for tools when it was started without. Undefined: it takes no notice of them then. */
  toolsRefused?(): EngineError;
  /** The body of an error answer. */
  error(error: EngineError, path: string): unknown;
  /** The end of a stream that fails half-way. Undefined: the connection just closes. */
  brokenStream(error: EngineError): string | undefined;
  /** The error when no more requests fit the queue. */
  overloaded(): EngineError;
  /** The error while models are being loaded. */
  loading(): EngineError;
  unknownModel(id: string): EngineError;
  /** The error for an embedding input that is not cut. */
  inputTooLong(tokens: number, limit: number): EngineError;
  /** Holds a prompt and the room it asks for against the context; refuses or cuts as the engine does. */
  fit(prompt: readonly number[], request: SamplingRequest, contextLength: number): Fitted;
}

/** Room for an answer, as the engine sees it. */
export interface Fitted {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
}

/** Writes one answer in a dialect, as a stream or whole. */
export interface Encoder {
  /** The content type of its stream. */
  readonly contentType: string;
  /** The bytes before the first token. */
  open(): string;
  /** The bytes for the output token at this place; empty when the engine would send nothing. */
  token(at: number): string;
  /** The bytes after the last token. */
  close(): string;
  /** The answer of a request that does not stream. */
  gathered(): unknown;
}

/** A generation that is being answered. */
export interface Call {
  readonly id: string;
  /** Milliseconds since the Unix epoch. */
  readonly startedAt: number;
  readonly model: Model;
  readonly request: SamplingRequest;
  readonly run: Run;
  readonly fault: Fault;
  /** Whether it tells the prompt tokens that came from the cache. */
  readonly cacheReport: boolean;
  /** Whether the request demanded one tool by name. */
  readonly namedTool: boolean;
}

/** Endpoints by method and path, such as `POST /tokenize`. */
export type Routes = Readonly<Record<string, (exchange: Exchange) => void>>;

/** One request with its body read. */
export interface Exchange {
  readonly host: Host;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly body: Json;
  /** Runs work that ends later, and answers with its error if there is one. */
  guard(action: () => void): void;
}

/** A simulated server as its endpoints see it. */
export interface Host {
  readonly settings: Settings;
  readonly dialect: Dialect;
  readonly models: ReadonlyMap<string, Model>;
  readonly faults: FaultPanel;
  /** Stops the server at once, as a crash would. */
  die(): void;
}
