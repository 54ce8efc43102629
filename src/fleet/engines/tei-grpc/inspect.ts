import { Info } from "#gen/tei/v1/tei_pb.js";
import type { GrpcConnection } from "../shared/grpc/connection.ts";
import type { Inspection, Subject } from "../shared/inspection/inspection.ts";
import { inspectInfo } from "../tei/info.ts";

/** Inspects TEI over gRPC with `Info`. */
export async function inspect(connection: GrpcConnection, subject: Subject, signal: AbortSignal): Promise<Inspection> {
  return inspectInfo(await connection.client(Info).info({}, { signal }), subject);
}
