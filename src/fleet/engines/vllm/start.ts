import { commandLine, parsePort, quoted } from "../shared/inspection/command-line.ts";
import { type Subject, servedName } from "../shared/inspection/inspection.ts";

/** The command that starts vLLM for a model. PARSER is one of those that `vllm serve --help=all` lists. */
export function startCommand(subject: Subject): string {
  const { server, model } = subject;
  const name = servedName(subject);
  const common = {
    "--served-model-name": name,
    "--port": parsePort(server.url),
    "--max-model-len": model.context_length,
  };
  const program = `vllm serve ${quoted(name)}`;
  if (model.kind === "embedding") {
    return commandLine(program, { ...common, "--runner": "pooling" });
  }
  return commandLine(program, {
    ...common,
    "--max-num-seqs": server.capacity,
    "--enable-prefix-caching": true,
    "--enable-prompt-tokens-details": true,
    "--enable-auto-tool-choice": true,
    "--tool-call-parser": "PARSER",
    "--reasoning-parser": model.thinking.mode === "none" ? undefined : "PARSER",
  });
}
