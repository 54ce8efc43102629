import type { IncomingMessage, ServerResponse } from "node:http";
import type { Model, Run } from "../engine/model.ts";
import type { EngineError } from "../engine-error.ts";
import type { Fault, FaultPanel } from "../faults.ts";
import type { Json, SamplingRequest } from "../http/chat-request.ts";
import type { DialectName, Settings } from "../options.ts";

/** A generation that is being answered. */
export interface Call {
  readonly id: string;
  /** Seconds since the Unix epoch. */
  readonly created: number;
  readonly model: Model;
  readonly request: SamplingRequest;
  readonly run: Run;
  readonly fault: Fault;
  /** The tool that the request demanded by name. */
  readonly namedTool: boolean;
}

/** Writes one answer in a dialect, as a stream of server-sent events or whole. */
export interface Encoder {
  /** Events before the first token. */
  open(): string;
  /** Events for the output token at this place; empty when the engine would say nothing. */
  token(at: number): string;
  /** Events after the last token, without the final `[DONE]`. */
  close(): string;
  /** The answer of a request that does not stream. */
  whole(): unknown;
}

/** Room for an answer, as the engine sees it. */
export interface Fitted {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
}

/** Endpoints by method and path, such as `POST /tokenize`. */
export type Routes = Readonly<Record<string, (exchange: Exchange) => void>>;

/** How one engine speaks HTTP. */
export interface Dialect {
  readonly name: DialectName;
  readonly version: string;
  /** Whether streams end with `data: [DONE]`. */
  readonly done: boolean;
  /** Its own endpoints beside those that all have: `GET /path` to what answers them. */
  readonly routes: Routes;
  chat(call: Call): Encoder;
  completion(call: Call): Encoder;
  /** The body of an error answer. */
  error(error: EngineError): unknown;
  /** The error when no more requests fit the queue. */
  overloaded(): EngineError;
  /** The error while models are being loaded. */
  loading(): EngineError;
  /** Whether embedding inputs are cut when they are too long; else this is the error. */
  readonly truncatesInputs: boolean;
  inputTooLong(tokens: number, limit: number, index: number): EngineError;
  /** Holds a prompt and the room it asks for against the context; refuses or cuts as the engine does. */
  fit(prompt: readonly number[], request: SamplingRequest, model: Model): Fitted;
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

/** One request with its body read. */
export interface Exchange {
  readonly host: Host;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  readonly body: Json;
  /** Runs what happens later, and answers with the error if there is one. */
  guard(action: () => void): void;
}
