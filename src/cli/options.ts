import type { LogFormat } from "../compose/logger.ts";

/** `tollgate serve`: everything in one process. */
export interface ServeOptions {
  /** The configuration file. Absent: the defaults, with simulated GPUs unless servers or a model are given. */
  readonly config?: string;
  /** Inference servers to serve the models of, in place of configured models. */
  readonly server?: readonly string[];
  /** A model file to run in this process, in place of configured models. */
  readonly gguf?: string;
  /** The HTTP port, in place of the configured one. */
  readonly port?: number;
  readonly log: LogFormat;
}

/** `tollgate core`: the services over gRPC alone. */
export interface CoreOptions {
  readonly config: string;
  readonly log: LogFormat;
}

/** `tollgate facade`: the public surfaces alone, in front of cores. */
export interface FacadeOptions {
  /** Where the cores are: `host:port`, `dns:///host:port` or `ipv4:host:port,host:port`. */
  readonly core: string;
  readonly config?: string;
  /** The HTTP port, in place of the configured one. */
  readonly port?: number;
  readonly log: LogFormat;
}

/** `tollgate sim`: a simulated GPU server. */
export interface SimulateOptions {
  readonly port: number;
  readonly models: readonly string[];
  readonly dialect: string;
  readonly speed: number;
  readonly seed: number;
  readonly log: LogFormat;
}
