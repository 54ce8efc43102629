import { commandLine, portOf } from "../shared/inspection/command-line.ts";
import { type Subject, servedName } from "../shared/inspection/inspection.ts";

/** How to start SGLang for a model; PARSER is one of those that `--help` lists. */
export function startCommand(subject: Subject): string {
  const { server, model } = subject;
  const port = portOf(server.url);
  const name = servedName(subject);
  const generates = model.kind === "generation";
  return commandLine("python -m sglang.launch_server", {
    "--model-path": name,
    "--served-model-name": name,
    ...(server.engine === "sglang-grpc" ? { "--enable-grpc": true, "--grpc-port": port } : { "--port": port }),
    "--context-length": model.context_length,
    "--max-running-requests": server.capacity,
    "--enable-metrics": true,
    "--enable-cache-report": generates || undefined,
    "--tool-call-parser": generates ? "PARSER" : undefined,
    "--reasoning-parser": model.thinking.mode === "none" ? undefined : "PARSER",
    "--is-embedding": generates ? undefined : true,
  });
}
