/** A way into a model. */
export type Surface = "chat" | "messages" | "embeddings";

/** What a system gets to be started with. */
export interface Surroundings {
  /** The port of the load target on 127.0.0.1. */
  readonly enginePort: number;
  /** A directory of its own for what it writes. */
  readonly directory: string;
  /** Models beside the load target's, as in the configuration file. */
  readonly models?: readonly object[];
  /** What the configuration file has besides. */
  readonly config?: object;
}

/** A system that serves. */
export interface Running {
  readonly host: string;
  /** One or several that serve alike; clients spread over them. */
  readonly ports: readonly number[];
  /** Headers that every request to it needs, such as the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same for another tenant, where there are tenants. */
  readonly otherHeaders?: Readonly<Record<string, string>>;
  /** Where each surface is; one that it lacks is not measured. */
  readonly paths: Readonly<Partial<Record<Surface, string>>>;
  /** Roots of the process trees that do its work. */
  readonly processes: readonly number[];
  /** How a Tollgate can be looked into. */
  readonly inside?: Inside;
  stop(): Promise<void>;
}

/** What a Tollgate shows of itself. */
export interface Inside {
  /** URL of a core's services over the Connect protocol. */
  readonly connect: string;
  readonly operatorToken: string;
  readonly parts: readonly Part[];
}

/** A process of Tollgate's. */
export interface Part {
  readonly name: string;
  readonly pid: number;
  /** URL of its metrics. */
  readonly metrics: string;
  /** File with its output. */
  readonly log: string;
}

/** A system under test. */
export interface System {
  readonly name: string;
  /** Somebody else's: when its requests fail, the run says so and goes on without it. */
  readonly foreign?: true;
  start(surroundings: Surroundings): Promise<Running>;
}

/** The usual places of the surfaces. */
export const usualPaths = {
  chat: "/v1/chat/completions",
  messages: "/v1/messages",
  embeddings: "/v1/embeddings",
} as const;
