import { systemClock } from "#lib/time/clock.ts";
import type { Engine } from "../interface.ts";
import { GrpcConnection, type GrpcOptions } from "./grpc/connection.ts";
import { HttpConnection } from "./http/connection.ts";
import type { Inspection, Subject } from "./inspection/inspection.ts";
import { Probe } from "./inspection/probe.ts";
import type { EngineSettings } from "./settings.ts";

/** All that distinguishes one engine for the rest of the program. */
export interface EngineDriver<Transport extends string = "http" | "grpc" | "in-process"> {
  readonly transport: Transport;
  /** Creates the adapter of one server. */
  create(url: string, settings: EngineSettings): Engine;
  /** Asks a server about itself. Throws when it does not answer. */
  inspect(subject: Subject, options: GrpcOptions, signal: AbortSignal): Promise<Inspection>;
  /** The command that starts the engine for a model. Undefined: not known. */
  readonly startCommand?: (subject: Subject) => string;
  /** How a server is recognized as this engine. Undefined: the configuration has to name the engine. */
  readonly detect?: Detection;
}

/** The signs that distinguish an engine's servers from others. */
export interface Detection {
  /** The default port. Undefined: it shares another engine's port, or is not searched for. */
  readonly port?: number;
  /** The `owned_by` of the models that it lists on `/v1/models`. Undefined: it has no value of its own. */
  readonly owner?: string;
  /** A call to which only this engine answers with this field. Undefined: there is none. */
  readonly call?: { readonly path: string; readonly field: string };
}

type Parts<Ask> = Omit<EngineDriver, "transport" | "inspect"> & { readonly inspect: Ask };

/** The driver of an engine that speaks HTTP. */
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
        clock: systemClock,
        connections: 4,
        silenceTimeoutMs: 120_000,
      });
      return inspect(new Probe(connection, signal), subject).finally(() => connection.close());
    },
  };
}

/** The driver of an engine that speaks gRPC. */
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
