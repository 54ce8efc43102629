import { type CommandOptions, commandLine, parsePort } from "../shared/inspection/command-line.ts";
import { type Subject, servedName } from "../shared/inspection/inspection.ts";

/** The command that starts SGLang for a model. */
export function startCommand(subject: Subject): string {
  return launchServer(subject, { "--port": parsePort(subject.server.url) });
}

/**
 * The command that launches SGLang, with the options of where it listens. PARSER is one of those that `--help` lists.
 */
export function launchServer(subject: Subject, listen: CommandOptions): string {
  const { server, model } = subject;
  const name = servedName(subject);
  const generates = model.kind === "generation";
  return commandLine("python -m sglang.launch_server", {
    "--model-path": name,
    "--served-model-name": name,
    ...listen,
    "--context-length": model.context_length,
    "--max-running-requests": server.capacity,
    "--enable-metrics": true,
    "--enable-cache-report": generates || undefined,
    "--tool-call-parser": generates ? "PARSER" : undefined,
    "--reasoning-parser": model.thinking.mode === "none" ? undefined : "PARSER",
    "--is-embedding": generates ? undefined : true,
  });
}
