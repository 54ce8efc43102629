import type { Engine } from "../interface.ts";
import { GrpcConnection, type GrpcOptions } from "./grpc/connection.ts";
import { HttpConnection } from "./http/connection.ts";
import type { Inspection, Subject } from "./inspection/inspection.ts";
import { Probe } from "./inspection/probe.ts";
import type { EngineSettings } from "./settings.ts";

/** All that sets one engine apart for the rest of the program. */
export interface EngineDriver<Transport extends string = "http" | "grpc" | "in-process"> {
  readonly transport: Transport;
  /** Makes the adapter of one server. */
  create(url: string, settings: EngineSettings): Engine;
  /** Asks a server about itself. Throws when it does not answer. */
  inspect(subject: Subject, options: GrpcOptions, signal: AbortSignal): Promise<Inspection>;
  /** How to start the engine for a model. Undefined: it is not known. */
  readonly startCommand?: (subject: Subject) => string;
  /** How a server is known for this engine. Undefined: it has to be named. */
  readonly detect?: Detection;
}

/** The signs that tell an engine's servers from those of other engines. */
export interface Detection {
  /** Where it listens by default. Undefined: where another engine does, or it is not looked for. */
  readonly port?: number;
  /** `owned_by` of the models that it lists on `/v1/models`. Undefined: it says nothing of its own. */
  readonly owner?: string;
  /** A call that it alone answers with this field. Undefined: there is none. */
  readonly call?: { readonly path: string; readonly field: string };
}

type Parts<Ask> = Omit<EngineDriver, "transport" | "inspect"> & { readonly inspect: Ask };

/** The driver of an engine that is reached over HTTP. */
export function httpDriver({
  inspect,
  ...parts
}: Parts<(probe: Probe, subject: Subject) => Promise<Inspection>>): EngineDriver<"http"> {
  return {
    ...parts,
    transport: "http",
    async inspect(subject, options, signal) {
      const connection = new HttpConnection(subject.server.url, {
        ...options,
        connections: 4,
        silenceTimeoutMs: 120_000,
      });
      return inspect(new Probe(connection, signal), subject).finally(() => connection.close());
    },
  };
}

/** The driver of an engine that is reached over gRPC. */
export function grpcDriver({
  inspect,
  ...parts
}: Parts<
  (connection: GrpcConnection, subject: Subject, signal: AbortSignal) => Promise<Inspection>
>): EngineDriver<"grpc"> {
  return {
    ...parts,
    transport: "grpc",
    async inspect(subject, options, signal) {
      const connection = new GrpcConnection(subject.server.url, options);
      return inspect(connection, subject, signal).finally(() => connection.close());
    },
  };
}
