import { type CommandOptions, commandLine, parsePort } from "../shared/inspection/command-line.ts";
import { type Subject, servedName } from "../shared/inspection/inspection.ts";

/** TEI's own default. Nothing is gained by less. */
const usualBatchTokens = 16_384;

/** Bytes. More than the 2 MiB of our largest request. */
const payloadLimit = 4_000_000;

/** The command that starts TEI for a model. */
export function startCommand(subject: Subject): string {
  return startRouter(subject, { "--auto-truncate": "false", "--payload-limit": payloadLimit });
}

/** The command that starts TEI, with options beside those of both protocols. */
export function startRouter(subject: Subject, options: CommandOptions): string {
  const { server, model } = subject;
  return commandLine("text-embeddings-router", {
    "--model-id": servedName(subject),
    "--port": parsePort(server.url),
    "--max-batch-tokens": Math.max(usualBatchTokens, model.context_length),
    "--max-concurrent-requests": server.capacity * 32,
    ...options,
  });
}
