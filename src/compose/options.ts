import type { ClientTlsFiles } from "#src/config/tls/client-tls.ts";
import type { LogFormat } from "./process/logger.ts";

/** Options of every long-running command. */
export interface ProcessOptions {
  readonly log: LogFormat;
}

/** `tollgate serve`: everything in one process. */
export interface ServeOptions extends ProcessOptions {
  /** The configuration file. Default: all defaults, and models as below. */
  readonly config?: string;
  /** Serve the models that these inference servers list. */
  readonly server?: readonly string[];
  /** Serve this model file in process. */
  readonly gguf?: string;
  /**
   * The first port: the listeners take ports one after the other from here. Overrides the configuration. Default: as
   * configured.
   */
  readonly port?: number;
  /** Whether the console is served. */
  readonly console: boolean;
}

/** `tollgate core`: the gRPC core alone. */
export interface CoreOptions extends ProcessOptions {
  readonly config: string;
}

/** `tollgate facade`: the public surfaces alone. */
export interface FacadeOptions extends ProcessOptions, ClientTlsFiles {
  /** The cores: `host:port`, `dns:///name:port` or `ipv4:host:port,host:port`. */
  readonly core: string;
  /** The configuration file with the addresses to listen on. Default: the defaults. */
  readonly config?: string;
}
