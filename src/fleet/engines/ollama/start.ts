import { quoted } from "../shared/inspection/command-line.ts";
import { type Subject, servedName } from "../shared/inspection/inspection.ts";

/** The most parallel requests that Ollama is configured for: each takes the memory of a whole context. */
const mostParallel = 8;

/** The command that starts Ollama for a model. */
export function startCommand(subject: Subject): string {
  const { server, model } = subject;
  const { host } = new URL(server.url);
  const variables = {
    OLLAMA_HOST: host,
    OLLAMA_CONTEXT_LENGTH: model.context_length,
    OLLAMA_NUM_PARALLEL: Math.min(server.capacity, mostParallel),
    OLLAMA_KEEP_ALIVE: "-1",
  };
  const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return `${set.join(" ")} ollama serve\nollama pull ${quoted(servedName(subject))}`;
}
