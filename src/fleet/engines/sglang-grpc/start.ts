import { launchServer } from "../sglang/start.ts";
import { parsePort } from "../shared/inspection/command-line.ts";
import type { Subject } from "../shared/inspection/inspection.ts";

/** The command that starts SGLang with its gRPC service for a model. */
export function startCommand(subject: Subject): string {
  return launchServer(subject, { "--enable-grpc": true, "--grpc-port": parsePort(subject.server.url) });
}
