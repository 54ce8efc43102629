// After Ollama's api/types.go and server/routes.go of August 2026.
import { type ChatRequest, type Json, object, readChat } from "../../http/chat-request.ts";
import { readCounts } from "../answer/counts.ts";
import { readText } from "../answer/texts.ts";
import type { Call, Encoder } from "../dialect.ts";
import { completeCalls, PartReader } from "./parts.ts";

/** Reads a request to `/api/chat`, which streams by default. */
export function readNativeChat(body: Json): ChatRequest {
  const options = object(body.options) ?? {};
  const { think } = body;
  return readChat({
    ...body,
    stream: body.stream !== false,
    max_tokens: typeof options.num_predict === "number" && options.num_predict > 0 ? options.num_predict : undefined,
    stop: options.stop,
    seed: options.seed,
    chat_template_kwargs: {
      thinking: typeof think === "string" ? true : think,
      reasoning_effort: think,
    },
  });
}

/** Writes a chat answer like `/api/chat`: one JSON document on each line. */
export class NativeChatEncoder implements Encoder {
  readonly contentType = "application/x-ndjson";
  readonly #call: Call;
  readonly #parts: PartReader;
  readonly #head: object;

  constructor(call: Call) {
    this.#call = call;
    this.#parts = new PartReader(call.run.output);
    this.#head = { model: call.model.traits.id, created_at: new Date(call.startedAt).toISOString() };
  }

  open(): string {
    return "";
  }

  token(at: number): string {
    const part = this.#parts.read(at);
    if (part === undefined) {
      return "";
    }
    const calls = part.call === undefined ? [] : this.#calls().slice(part.call, part.call + 1);
    const message = {
      role: "assistant",
      content: part.content,
      ...(part.thinking !== "" && { thinking: part.thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return `${JSON.stringify({ ...this.#head, message, done: false })}\n`;
  }

  close(): string {
    const message = { role: "assistant", content: "" };
    return `${JSON.stringify({ ...this.#head, message, done: true, ...this.#ending() })}\n`;
  }

  gathered(): unknown {
    const calls = this.#calls();
    const thinking = readText(this.#call, "reasoning");
    const message = {
      role: "assistant",
      content: readText(this.#call, "text"),
      ...(thinking !== "" && { thinking }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    return { ...this.#head, message, done: true, ...this.#ending() };
  }

  #calls(): object[] {
    return completeCalls(this.#call).map(({ id, function: made }, index) => ({
      id,
      function: { index, name: made.name, arguments: parsed(made.arguments) },
    }));
  }

  #ending(): object {
    const { output } = this.#call.run;
    const counts = readCounts(this.#call, output.length);
    return {
      done_reason: output.finish === "length" ? "length" : "stop",
      ...(counts && { prompt_eval_count: counts.prompt, eval_count: counts.completion }),
    };
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {}; // invalid arguments from a directive
  }
}
