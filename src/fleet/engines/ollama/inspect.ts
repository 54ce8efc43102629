import {
  type Inspection,
  type Subject,
  servedName,
  toRemarks,
  warning,
  wrong,
} from "../shared/inspection/inspection.ts";
import { objectIn, type Probe } from "../shared/inspection/probe.ts";
import { fieldsIn, figureIn, listIn, plainText, textIn, textsIn } from "../shared/inspection/told.ts";
import { cutsPrompts, firstThatRefuses } from "./version.ts";

/** Parallel requests that Ollama runs with its usual settings. More wait in a queue that it does not report. */
const usualParallel = 8;

/** Inspects Ollama with `/api/version`, `/api/show` and `/api/ps`. */
export async function inspect(probe: Probe, subject: Subject): Promise<Inspection> {
  const { server, model } = subject;
  const name = servedName(subject);
  const [about, shown, running] = await Promise.all([
    probe.json("/api/version"),
    probe.text({ path: "/api/show", body: JSON.stringify({ model: name }) }),
    probe.json("/api/ps"),
  ]);
  const version = textIn(about?.version);
  const told = objectIn(shown) ?? {};
  const capabilities = textsIn(told.capabilities);
  const [, trained] = Object.entries(fieldsIn(told.model_info)).find(([key]) => key.endsWith(".context_length")) ?? [];
  const loaded = figureIn(
    listIn(running?.models)
      .map(fieldsIn)
      .find((one) => one.name === name)?.context_length,
  );
  const thinks = capabilities.includes("thinking");
  const generates = model.kind === "generation";
  return {
    version,
    facts: {
      "context length": figureIn(trained),
      "loaded with context": loaded,
      capabilities: plainText(capabilities.join(", ")) || undefined,
      counts: "at the end",
    },
    remarks: toRemarks(
      [
        version !== undefined && cutsPrompts(version),
        wrong(`cuts prompts that are too long and says nothing: version ${firstThatRefuses} or newer does not`),
      ],
      [generates && !capabilities.includes("tools"), warning("refuses tools with this model: its template knows none")],
      [
        thinks && model.thinking.mode === "none",
        warning("thinks, although the configuration says that the model does not: set thinking: of the model"),
      ],
      [
        generates && !thinks && model.thinking.mode !== "none",
        wrong("refuses to think with this model: set thinking: { mode: none } of the model"),
      ],
      [
        loaded !== undefined && loaded !== model.context_length,
        warning(
          `has the model loaded with a context of ${loaded}, and loads it again for each request with another one: OLLAMA_CONTEXT_LENGTH=${model.context_length}`,
        ),
      ],
      [
        server.capacity > usualParallel,
        warning(
          `does not tell how many requests it runs at once: set capacity: of this server to its OLLAMA_NUM_PARALLEL, 1 unless set, not ${server.capacity}`,
        ),
      ],
    ),
  };
}
