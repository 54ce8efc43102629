import { commandLine, portOf } from "../shared/inspection/command-line.ts";
import { type Subject, servedName } from "../shared/inspection/inspection.ts";

/** TEI's own default, below which there is no need to go. */
const usualBatchTokens = 16_384;

/** More than the 2 MiB of our largest request. */
const payloadLimit = 4_000_000;

/** How to start TEI for a model; the same over gRPC, from an image whose tag ends in `-grpc`. */
export function startCommand(subject: Subject): string {
  const { server, model } = subject;
  const grpc = server.engine === "tei-grpc";
  return commandLine("text-embeddings-router", {
    "--model-id": servedName(subject),
    "--port": portOf(server.url),
    "--max-batch-tokens": Math.max(usualBatchTokens, model.context_length),
    "--max-concurrent-requests": server.capacity * 32,
    "--auto-truncate": grpc ? undefined : "false",
    "--payload-limit": grpc ? undefined : payloadLimit,
  });
}
