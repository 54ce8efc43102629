import type { Server } from "#gen/tollgate/catalogue/v1/server_pb.js";
import type { ServiceClass } from "../../lib/service-class.ts";
import type { ServedModel } from "../catalogue/interface.ts";
import type { EngineEmbeddings, EngineEmbedRequest, EngineOutput, EngineRequest } from "../engines/interface.ts";

/** How a request stands among those that wait for a server. */
export interface Turn {
  /** Whose request it is: accounts take turns in the queue. Undefined: all such requests share one turn. */
  readonly accountId?: string;
  /** Higher classes go first. Undefined: standard. */
  readonly serviceClass?: ServiceClass;
  /** How many times the tokens of others the account is served where all wait. Undefined: as many. */
  readonly turnWeight?: number;
}

/** A generation for some server of a model; the server's own model name is filled in by the fleet. */
export interface FleetRequest extends Omit<EngineRequest, "model" | "priority">, Turn {
  /** The id of the caller or the facade, for the log. */
  readonly requestId: string;
  /** The account's name for requests that belong together. Undefined: the prompt alone tells. */
  readonly session?: string;
  /** Is told the id of the server that answers, before its first output. */
  readonly onServer?: (server: string) => void;
}

/** Inputs for some server of an embedding model. */
export interface FleetEmbedRequest extends Omit<EngineEmbedRequest, "model">, Turn {
  /** As for a generation. */
  readonly requestId: string;
  /** Is told the id of the server that answered. */
  readonly onServer?: (server: string) => void;
}

/** A change of models and servers that is ready to be made; one of the two is called, once. */
export interface FleetChange {
  apply(): void;
  discard(): void;
}

/** How cores that share a fleet tell each other what they have on its servers. */
export interface FleetSharing {
  /** Whether this core and the others hear each other. */
  readonly isInTouch: boolean;
  /** Other cores that are heard. */
  readonly cores: number;
  /** How many of them give a server no work for now. A server is named as toName does. */
  avoiding(server: string): number;
  readonly sentBytes: number;
  readonly heardBytes: number;
  /** Messages that could not be read. */
  readonly unreadable: number;
  /** Prompts that were not told of: there were too many, or nobody would have heard it. */
  readonly dropped: number;
}

/** Whether what a server tells of its KV cache is heard. */
export interface KvEventsState {
  readonly server: string;
  readonly model: string;
  readonly isHeard: boolean;
}

/** The inference servers: which one gets a request, and which ones are fit to get any. */
export interface Fleet {
  /**
   * Runs a generation on the best server. Until its first output the request may move to another
   * server; afterwards a failure ends the stream. Throws as Engine does, and OVERLOADED with a retry
   * delay when no server frees up within the queue's time.
   */
  generate(model: ServedModel, request: FleetRequest, signal: AbortSignal): AsyncIterable<EngineOutput>;
  /** Embeds on the best server, split to the engine's batch limit, in input order. */
  embed(model: ServedModel, request: FleetEmbedRequest, signal: AbortSignal): Promise<EngineEmbeddings>;
  /** The exact number of prompt tokens. Undefined: no server of the model can tell. */
  countTokens(
    model: ServedModel,
    request: Pick<FleetRequest, "prompt" | "thinking" | "recipe">,
    signal: AbortSignal,
  ): Promise<number | undefined>;
  /** Every server, in the configured order. */
  servers(): Server[];
  /** Gives a server no new work, whichever of our models it serves. Throws SERVER_NOT_FOUND. */
  drain(id: string): Server;
  /** Gives it work again. Throws SERVER_NOT_FOUND. */
  resume(id: string): Server;
  /**
   * The part of a model's capacity that is in use, 0 to 1 and above when requests wait: of its servers' requests or of
   * their KV caches' tokens, whichever is more.
   */
  utilisation(modelId: string): number;
  /** Requests for a model that wait for a server. */
  waiting(modelId: string): number;
  /** How it is shared with other cores. Undefined: it is this core's alone. */
  readonly sharing: FleetSharing | undefined;
  /** Whether the servers are heard that are configured to tell of their KV caches. */
  readonly kvEvents: readonly KvEventsState[];
  /**
   * Makes ready to serve other models on other servers. A request that runs on a server that is left out ends in its
   * own time. Throws, and changes nothing, when a server's adapter cannot be made.
   */
  prepare(models: readonly ServedModel[]): FleetChange;
  close(): Promise<void>;
}

/** A server failed its health checks, or is back. */
export interface HealthChange {
  readonly server: string;
  readonly model: string;
  readonly isUp: boolean;
  /** Why it failed, for people. Empty: it did not. */
  readonly reason: string;
}

/** Is told how the fleet fares. */
export interface FleetObserver {
  /** A request had to wait for a server, whether or not it got one. */
  waited(modelId: string, ms: number): void;
  /** A server failed a request, or was full. */
  failed(serverId: string, modelId: string): void;
  /** A server's first token came, after so many milliseconds, and after so many it was expected. */
  firstToken(serverId: string, modelId: string, ms: number, expectedMs: number): void;
  /** A request was refused at once, because no server would have kept what its class is promised. */
  shed(modelId: string, serviceClass: ServiceClass): void;
  /** A server counted what cannot be true, or sent more than its tokens can be. */
  implausible(serverId: string, modelId: string): void;
}
