import type { Server } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { ServiceClass } from "#lib/limits/service-class.ts";
import type { ServedModel } from "./catalogue/interface.ts";
import type { EngineEmbeddings, EngineEmbedRequest, EngineOutput, EngineRequest } from "./engines/interface.ts";

/** The rank of a request among those that wait for a server. */
export interface Turn {
  /** The sending account: accounts take turns in the queue. Undefined: all such requests share one turn. */
  readonly accountId?: string;
  /** Higher classes go first. Undefined: standard. */
  readonly serviceClass?: ServiceClass;
  /** Where all accounts wait, this one is served so many times the tokens of an account with weight 1. Undefined: 1. */
  readonly turnWeight?: number;
}

/** A generation for any server of a model. The fleet fills in the server's own name of the model. */
export interface FleetRequest extends Omit<EngineRequest, "model" | "priority">, Turn {
  /** The id from the caller or the facade, for the log. */
  readonly requestId: string;
  /** The account's name for a session of related requests. Undefined: sessions are recognized by the prompt alone. */
  readonly session?: string;
  /** The most prompt tokens that are charged: those that its hold covers. Undefined: as many as it can have. */
  readonly maxInputTokens?: number;
  /** Called when a server gets the request: from then on it may read the prompt. */
  readonly onSent?: () => void;
  /** Called with the server's id when it is asked. The last one asked is the one that answers. */
  readonly onServer?: (server: string) => void;
}

/** Inputs for any server of an embedding model. */
export interface FleetEmbedRequest extends Omit<EngineEmbedRequest, "model">, Turn {
  /** The id from the caller or the facade, for the log. */
  readonly requestId: string;
  /** The most tokens of the inputs that are charged, as in `FleetRequest`. */
  readonly maxInputTokens?: number;
  /** Called when a server gets the inputs: from then on it may read them. */
  readonly onSent?: () => void;
  /** Called with the server's id when it is asked. The last one asked is the one that answers. */
  readonly onServer?: (server: string) => void;
}

/** A prepared change of models and servers. Exactly one of its functions is called, once. */
export interface FleetChange {
  apply(): void;
  discard(): void;
}

/** The state of sharing: cores that share a fleet tell each other their load on its servers. */
export interface FleetSharing {
  /** Whether this core and the others receive each other's messages. */
  readonly isInTouch: boolean;
  /** The number of other cores that are heard. */
  readonly cores: number;
  /** How many of them give a server no work for now. `server` is a name made by toName. */
  avoiding(server: string): number;
  readonly sentBytes: number;
  readonly heardBytes: number;
  /** Messages that could not be decoded. */
  readonly unreadable: number;
  /** Prompts that other cores were not told about: there were too many, or no core would have received the message. */
  readonly dropped: number;
}

/** The inference servers: chooses the server for each request, and keeps unfit servers out. */
export interface Fleet {
  /**
   * Runs a generation on the best server. Until the first output the request may move to another server; afterwards a
   * failure ends the stream. Throws the errors of Engine, and OVERLOADED with a retry delay when no server frees up
   * within the queue's time limit.
   */
  generate(model: ServedModel, request: FleetRequest, signal: AbortSignal): AsyncIterable<EngineOutput>;
  /** Embeds on the best server, in batches of the engine's limit. Vectors are in input order. */
  embed(model: ServedModel, request: FleetEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings>;
  /** The tokens that a model's template is known to add to any prompt. Holds are made with them. */
  templateTokens(model: ServedModel): number;
  /** Counts a prompt's tokens exactly. Undefined: no server of the model can count. */
  countTokens(
    model: ServedModel,
    request: Pick<FleetRequest, "prompt" | "thinking" | "recipe">,
    signal: AbortSignal,
  ): Promise<number | undefined>;
  /** All servers, in the configured order. */
  servers(): Server[];
  /** Stops new work for a server, for all models that it serves. Throws SERVER_NOT_FOUND. */
  drain(id: string): Server;
  /** Lets a server have new work again. Throws SERVER_NOT_FOUND. */
  resume(id: string): Server;
  /**
   * The part of a model's capacity that is in use: of its servers' requests or of their KV caches' tokens, whichever is
   * more. Above 1 when requests wait.
   */
  utilisation(modelId: string): number;
  /** The number of requests that wait for a server of a model. */
  waiting(modelId: string): number;
  /** The state of sharing with other cores. Undefined: this core is the only one. */
  readonly sharing: FleetSharing | undefined;
  /**
   * Prepares to serve other models on other servers. Requests that run on a removed server may finish. Throws, and
   * changes nothing, when a server's adapter cannot be created.
   */
  prepare(models: readonly ServedModel[]): FleetChange;
  close(): Promise<void>;
}

/** A server failed its health checks, recovered, or passed them for the first time. */
export interface HealthChange {
  readonly server: string;
  readonly model: string;
  readonly isUp: boolean;
  /** Why the server failed, for people. Empty: it recovered. */
  readonly reason: string;
}

/** Receives the fleet's measurements. */
export interface FleetObserver {
  /** A request waited for a server, whether or not it got one. */
  waited(modelId: string, ms: number): void;
  /** A server failed a request, or was full. */
  failed(serverId: string, modelId: string): void;
  /** A server's first token came: after how many milliseconds, and after how many it was expected. */
  firstToken(serverId: string, modelId: string, ms: number, expectedMs: number): void;
  /** A request was refused, at once or while it waited: no server would have kept its class's promise of a first token. */
  shed(modelId: string, serviceClass: ServiceClass): void;
  /** A server reported an impossible count, or sent more than its tokens allow. */
  implausible(serverId: string, modelId: string): void;
  /** A server was removed from a model, or made anew. Requests may still run on it. */
  left(serverId: string, modelId: string): void;
}
