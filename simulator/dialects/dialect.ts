import type { IncomingMessage, ServerResponse } from "node:http";
import type { Model, Run } from "../engine/model.ts";
import type { EngineError } from "../engine-error.ts";
import type { Fault, FaultPanel } from "../faults.ts";
import type { Json, SamplingRequest } from "../http/chat-request.ts";
import type { DialectName, Settings } from "../options.ts";

/** How one engine speaks HTTP. */
export interface Dialect {
  readonly name: DialectName;
  /** Whether an unknown model name means the model that the server has. */
  readonly anyModelName: boolean;
  /** Whether embedding inputs that are too long are truncated silently, unless the server was configured otherwise. */
  readonly truncates: boolean;
  /** The only fields that a chat request may have. Undefined: other fields are ignored. */
  readonly chatFields?: ReadonlySet<string>;
  /** The only fields that a completion request may have. Undefined: other fields are ignored. */
  readonly completionFields?: ReadonlySet<string>;
  /** The endpoints beside chat, completions and embeddings. */
  readonly routes: Routes;
  chat(call: Call): Encoder;
  completion(call: Call): Encoder;
  /** The `usage` of embeddings. */
  embeddingUsage(tokens: number): unknown;
  /** The error for tools when the server was started without tool calls. Undefined: tools are ignored then. */
  toolsRefused?(): EngineError;
  /** The body of an error answer. */
  error(error: EngineError, path: string): unknown;
  /** The end of a stream that fails midway. Undefined: the connection just closes. */
  brokenStream(error: EngineError): string | undefined;
  /** The error when the queue is full. */
  overloaded(): EngineError;
  /** The error while models are being loaded. */
  loading(): EngineError;
  unknownModel(id: string): EngineError;
  /** The error for an embedding input that is not truncated. */
  inputTooLong(tokens: number, limit: number): EngineError;
  /** Fits a prompt and its requested output into the context. Refuses or truncates as the engine does. */
  fit(prompt: readonly number[], request: SamplingRequest, contextLength: number): Fitted;
}

/** A prompt and the room for its answer. */
export interface Fitted {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
}

/** Writes one answer in a dialect, streamed or in one piece. */
export interface Encoder {
  /** The stream's content type. */
  readonly contentType: string;
  /** The bytes before the first token. */
  open(): string;
  /** The bytes for the output token at this index. Empty when the engine would send nothing. */
  token(at: number): string;
  /** The bytes after the last token. */
  close(): string;
  /** The answer to a request that does not stream. */
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
  /** Whether the answer reports the prompt tokens that came from the cache. */
  readonly cacheReport: boolean;
  /** Whether the request demanded one tool by name. */
  readonly namedTool: boolean;
}

/** Endpoints by method and path, such as `POST /tokenize`. */
export type Routes = Readonly<Record<string, (exchange: Exchange) => void>>;

/** One request whose body was read. */
export interface Exchange {
  readonly host: Host;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly body: Json;
  /** Runs work that ends later. If it throws, answers with the error. */
  guard(action: () => void): void;
}

/** A simulated server as its endpoints see it. */
export interface Host {
  readonly settings: Settings;
  readonly dialect: Dialect;
  readonly models: ReadonlyMap<string, Model>;
  readonly faults: FaultPanel;
  /** Stops the server at once, like a crash. */
  die(): void;
}
