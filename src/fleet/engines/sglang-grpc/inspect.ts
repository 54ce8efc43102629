import { SglangService } from "#gen/sglang/runtime/v1/sglang_pb.js";
import { readServerInfo } from "../sglang/server-info.ts";
import type { GrpcConnection } from "../shared/grpc/connection.ts";
import { type Inspection, type Subject, warning } from "../shared/inspection/inspection.ts";
import { objectIn } from "../shared/inspection/probe.ts";

/** Inspects SGLang over gRPC with `GetServerInfo`. */
export async function inspect(connection: GrpcConnection, subject: Subject, signal: AbortSignal): Promise<Inspection> {
  const { jsonInfo } = await connection.client(SglangService).getServerInfo({}, { signal });
  const { version, facts, remarks } = readServerInfo(objectIn(jsonInfo) ?? {}, subject);
  const abandoned = warning(
    "may run an answer that nobody reads any more to its end, for this service does not know the request's own id: engine: sglang stops it",
  );
  return { version, facts, remarks: subject.model.kind === "generation" ? [...remarks, abandoned] : remarks };
}
