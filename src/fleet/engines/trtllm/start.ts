import { commandLine, parsePort, quoted } from "../shared/inspection/command-line.ts";
import { type Subject, servedName } from "../shared/inspection/inspection.ts";

/** The command that starts trtllm-serve for a model. PARSER is one of those that `--help` lists. */
export function startCommand(subject: Subject): string {
  const { server, model } = subject;
  return commandLine(`echo 'return_perf_metrics: true' > serve.yaml && trtllm-serve ${quoted(servedName(subject))}`, {
    "--port": parsePort(server.url),
    "--max_seq_len": model.context_length,
    "--max_batch_size": server.capacity,
    "--tool_parser": "PARSER",
    "--reasoning_parser": model.thinking.mode === "none" ? undefined : "PARSER",
    "--extra_llm_api_options": "serve.yaml",
  });
}
