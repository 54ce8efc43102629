import { commandLine, parsePort } from "../shared/inspection/command-line.ts";
import { type Subject, servedName } from "../shared/inspection/inspection.ts";

/** The most slots. A machine with this engine does not fill more, and slots share the context. */
const mostSlots = 16;

/** The command that starts llama-server for a model. An embedding input has to fit one physical batch. */
export function startCommand(subject: Subject): string {
  const { server, model } = subject;
  const name = servedName(subject);
  const common = { "-m": `${name.split("/").at(-1)}.gguf`, "--alias": name, "--port": parsePort(server.url) };
  const length = model.context_length;
  if (model.kind === "embedding") {
    // It refuses an input that fills its context to the last token.
    const slots = { "-c": length + 1, "-np": 1, "-b": length, "-ub": length };
    return commandLine("llama-server", { ...common, ...slots, "--embeddings": true, "--metrics": true });
  }
  const slots = Math.min(server.capacity, mostSlots);
  return commandLine("llama-server", {
    ...common,
    "-c": length * slots,
    "-np": slots,
    "--jinja": true,
    "--metrics": true,
  });
}
