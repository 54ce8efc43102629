// Reads a chat-completions-style stream as a strict client would, after the format's own description
// and not after our encoder. Throws at the first thing that some client could not take.

/** What a stream said. */
export interface StreamedAnswer {
  content: string;
  reasoning: string;
  toolCalls: { id: string; name: string; arguments: string }[];
  /** Undefined: the stream ended with an error. */
  finishReason?: string;
  usage?: unknown;
  error?: unknown;
}

interface Chunk {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null; logprobs?: null }[];
  usage?: unknown;
  error?: unknown;
}

/** Checks a whole stream and returns what it said. */
export function readChatStream(text: string, options: { readonly separateUsage: boolean }): StreamedAnswer {
  const events = dataOf(text);
  if (events.pop() !== "[DONE]") {
    throw new Error("the stream does not end with [DONE]");
  }
  const answer: StreamedAnswer = { content: "", reasoning: "", toolCalls: [] };
  let head: string | undefined;
  let phase: "role" | "deltas" | "finished" | "over" = "role";
  for (const data of events) {
    const chunk = JSON.parse(data) as Chunk;
    if (phase === "over") {
      throw new Error(`nothing may follow the end: ${data}`);
    }
    if ("error" in chunk) {
      answer.error = chunk.error;
      phase = "over";
      continue;
    }
    const { id, object, created, model } = chunk;
    head ??= JSON.stringify([id, object, created, model]);
    if (JSON.stringify([id, object, created, model]) !== head) {
      throw new Error("the head of a chunk differs");
    }
    if (!id.startsWith("chatcmpl-") || object !== "chat.completion.chunk" || !Number.isInteger(created)) {
      throw new Error(`bad head ${head}`);
    }
    phase = readChunk(chunk, phase, answer, options.separateUsage);
  }
  if (phase !== "over") {
    throw new Error(`the stream ends too early, in phase ${phase}`);
  }
  return answer;
}

function readChunk(
  chunk: Chunk,
  phase: "role" | "deltas" | "finished",
  answer: StreamedAnswer,
  separateUsage: boolean,
): "deltas" | "finished" | "over" {
  const [choice, ...others] = chunk.choices;
  if (others.length > 0) {
    throw new Error("more than one choice");
  }
  if (choice === undefined) {
    if (!separateUsage || phase !== "finished") {
      throw new Error("a chunk without a choice that was not asked for");
    }
    answer.usage = toUsage(chunk);
    return "over";
  }
  if (phase === "finished") {
    throw new Error("a choice after the finish reason");
  }
  if (choice.index !== 0 || choice.finish_reason === undefined) {
    throw new Error(`bad choice ${JSON.stringify(choice)}`);
  }
  if (choice.finish_reason !== null) {
    answer.finishReason = readFinish(choice.finish_reason, choice.delta);
    return readEnd(chunk, answer, separateUsage);
  }
  if ("usage" in chunk) {
    throw new Error("usage before the end");
  }
  if (phase === "role") {
    if (JSON.stringify(choice.delta) !== '{"role":"assistant","content":""}') {
      throw new Error("the first delta is not the role");
    }
    return "deltas";
  }
  readDelta(choice.delta, answer);
  return "deltas";
}

function readEnd(chunk: Chunk, answer: StreamedAnswer, separateUsage: boolean): "finished" | "over" {
  if (separateUsage === "usage" in chunk) {
    throw new Error("usage in the other form");
  }
  if (separateUsage) {
    return "finished";
  }
  answer.usage = toUsage(chunk);
  return "over";
}

function readFinish(reason: string, delta: Record<string, unknown>): string {
  if (Object.keys(delta).length > 0) {
    throw new Error("the last delta says something");
  }
  if (!["stop", "length", "tool_calls", "content_filter"].includes(reason)) {
    throw new Error(`no client knows the finish reason ${reason}`);
  }
  return reason;
}

function readDelta(delta: Record<string, unknown>, answer: StreamedAnswer): void {
  const [key, ...others] = Object.keys(delta);
  if (key === undefined || others.length > 0) {
    throw new Error(`a delta of ${JSON.stringify(delta)}`);
  }
  const value = delta[key];
  switch (key) {
    case "content":
    case "reasoning":
      if (typeof value !== "string" || value === "") {
        throw new Error(`an empty ${key}`);
      }
      answer[key] += value;
      return;
    case "tool_calls":
      for (const piece of value as Record<string, unknown>[]) {
        readToolCall(piece, answer);
      }
      return;
    default:
      throw new Error(`an unknown delta ${key}`);
  }
}

function readToolCall(piece: Record<string, unknown>, answer: StreamedAnswer): void {
  const { index, id, type, function: called, ...others } = piece;
  const { name, arguments: fragment, ...more } = called as Record<string, unknown>;
  if (Object.keys({ ...others, ...more }).length > 0) {
    throw new Error(`a tool call of ${JSON.stringify(piece)}`);
  }
  if (typeof fragment !== "string") {
    throw new Error("arguments must be a string in each piece");
  }
  const known = answer.toolCalls[index as number];
  if (known !== undefined) {
    if (id !== undefined || type !== undefined || name !== undefined) {
      throw new Error("a call is introduced twice");
    }
    known.arguments += fragment;
    return;
  }
  if (index !== answer.toolCalls.length) {
    throw new Error("a call leaves out an index");
  }
  if (typeof id !== "string" || id === "" || type !== "function" || typeof name !== "string" || fragment !== "") {
    throw new Error(`a call begins as ${JSON.stringify(piece)}`);
  }
  answer.toolCalls.push({ id, name, arguments: "" });
}

function toUsage({ usage }: Chunk): unknown {
  const { prompt_tokens, completion_tokens, total_tokens } = usage as Record<string, number>;
  if ([prompt_tokens, completion_tokens].some((count) => !Number.isInteger(count))) {
    throw new Error("no usage");
  }
  if ((prompt_tokens ?? 0) + (completion_tokens ?? 0) !== total_tokens) {
    throw new Error("the total is wrong");
  }
  return usage;
}

/** The data of each event, by the rules of server-sent events, with what is known to upset clients forbidden. */
function dataOf(text: string): string[] {
  if (/[\r\u0085\u2028\u2029]/.test(text)) {
    throw new Error("a line end that some clients take for one and others do not");
  }
  if (!text.endsWith("\n\n")) {
    throw new Error("the last event is not complete");
  }
  const events: string[] = [];
  for (const event of text.slice(0, -2).split("\n\n")) {
    const lines = event.split("\n").filter((line) => !line.startsWith(":"));
    const [data, ...others] = lines;
    if (data === undefined || others.length > 0 || !data.startsWith("data: ")) {
      throw new Error(`not one line of data: ${JSON.stringify(event)}`);
    }
    events.push(data.slice("data: ".length));
  }
  return events;
}
