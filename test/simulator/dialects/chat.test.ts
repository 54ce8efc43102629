import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type DialectName, dialectNames } from "../../../simulator/options.ts";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { type Answer, ask, call, eventsIn, joined, joinedCalls, post, stream } from "../client.ts";

/** What is characteristic of a dialect's chat. */
interface Traits {
  readonly reasoning: "reasoning" | "reasoning_content";
  /** The last chunks of a stream: `choice` has a finish reason, `usage` none but counts. */
  readonly ending: readonly string[];
  /** Chunks with running usage, of those with a text. */
  readonly running: "usage" | "timings" | "none";
  /** The field of a choice that names the stop sequence. */
  readonly stop?: string;
  /** Arguments come in pieces. */
  readonly pieces: boolean;
}

const traits: Record<Exclude<DialectName, "tei">, Traits> = {
  vllm: {
    reasoning: "reasoning",
    ending: ["choice", "usage", "[DONE]"],
    running: "usage",
    stop: "stop_reason",
    pieces: true,
  },
  sglang: {
    reasoning: "reasoning_content",
    ending: ["choice", "usage", "[DONE]"],
    running: "usage",
    stop: "matched_stop",
    pieces: true,
  },
  "llama.cpp": {
    reasoning: "reasoning_content",
    ending: ["choice", "usage", "[DONE]"],
    running: "timings",
    pieces: true,
  },
  ollama: { reasoning: "reasoning", ending: ["choice", "usage", "[DONE]"], running: "none", pieces: false },
  trtllm: {
    reasoning: "reasoning_content",
    ending: ["choice", "usage", "[DONE]"],
    running: "usage",
    stop: "stop_reason",
    pieces: true,
  },
  openai: { reasoning: "reasoning_content", ending: ["choice", "usage", "[DONE]"], running: "none", pieces: true },
  transformers: { reasoning: "reasoning_content", ending: ["choice+usage"], running: "none", pieces: true },
};

const chat = "/v1/chat/completions";
const weather = {
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
};

test("there is a case for every dialect that chats", () => {
  expect([...Object.keys(traits), "tei"].sort()).toEqual([...dialectNames].sort());
});

describe.each(Object.entries(traits))("%s", (name, { reasoning, ending, running, stop, pieces }) => {
  let sim: Simulator;
  beforeAll(async () => {
    const models = [{ id: "m", thinking: { mode: "default_on" as const } }];
    sim = await startSimulator({ dialect: name as DialectName, models, speed: 0 });
  });
  afterAll(() => sim.close());

  const usual = { model: "m", stream_options: { include_usage: true } };
  const counting = name === "llama.cpp" ? { ...usual, timings_per_token: true } : withContinuous(name, usual);

  test("streams what it answers whole", async () => {
    const question = ask("Tell me about rivers 👋", { model: "m" });
    const { body } = await call(sim, chat, question);
    const chunks = await stream(sim, chat, { ...question, ...usual });
    const [choice] = body.choices;
    expect(joined(chunks, "content")).toBe(choice.message.content);
    expect(joined(chunks, reasoning)).toBe(choice.message[reasoning]);
    expect(choice.message[reasoning]).not.toBe("");
    expect(finishes(chunks)).toEqual([choice.finish_reason]);
    const { usage } = chunks.findLast((chunk) => chunk.usage);
    expect(countsOf(usage)).toEqual(countsOf(body.usage));
    expect(chunks[0].choices[0].delta.role).toBe("assistant");
  });

  test("ends its streams as the engine does", async () => {
    const chunks = await stream(sim, chat, ask("[[sim:text=Bye.]]", usual));
    expect(chunks.slice(-ending.length).map(kindOf)).toEqual(ending);
    expect(finishes(chunks)).toEqual(["stop"]);
  });

  test("tells running counts as the engine does", async () => {
    const chunks = await stream(sim, chat, ask("[[sim:think=2]] [[sim:text=one two three]]", counting));
    const texts = chunks.filter((chunk) => chunk.choices?.[0]?.delta?.content && !chunk.choices[0].finish_reason);
    const counts = texts.map((chunk) => chunk.usage?.completion_tokens ?? chunk.timings?.predicted_n);
    expect(counts).toEqual(running === "none" ? [undefined, undefined, undefined] : [5, 6, 7]);
    const last = chunks.findLast((chunk) => chunk.usage?.completion_tokens);
    expect(last.usage.completion_tokens).toBe(8);
  });

  test("stops at a sequence and says so", async () => {
    const question = ask("[[sim:text=one two STOP three]]", { ...usual, stop: ["STOP"] });
    const chunks = await stream(sim, chat, question);
    expect(joined(chunks, "content")).toBe("one two ");
    const last = chunks.findLast((chunk) => chunk.choices?.[0]?.finish_reason);
    if (stop !== undefined) {
      expect(last.choices[0][stop]).toBe("STOP");
    }
  });

  test("ends with length at max_tokens", async () => {
    const chunks = await stream(sim, chat, ask("[[sim:tokens=50]]", { ...usual, max_tokens: 7 }));
    expect(finishes(chunks)).toEqual(["length"]);
    expect(chunks.findLast((chunk) => chunk.usage).usage.completion_tokens).toBe(7);
  });

  test("calls tools, several at once", async () => {
    const directives = '[[sim:tools=2]] [[sim:args={"city":"Köln 👋"}]]';
    const question = ask(directives, { ...usual, tools: [weather], tool_choice: "auto" });
    const chunks = await stream(sim, chat, question);
    const expected = { name: "get_weather", arguments: '{"city":"Köln 👋"}' };
    expect(joinedCalls(chunks)).toEqual([expected, expected]);
    expect(finishes(chunks)).toEqual(["tool_calls"]);
    const parts = chunks.filter((chunk) => chunk.choices?.[0]?.delta?.tool_calls);
    if (pieces) {
      expect(parts.length).toBeGreaterThan(6);
    } else {
      expect(parts).toHaveLength(2);
    }

    const { body } = await call(sim, chat, ask(directives, { model: "m", tools: [weather] }));
    const { message, finish_reason } = body.choices[0];
    expect(message.tool_calls.map((made: Answer) => made.function)).toEqual([expected, expected]);
    expect(message.tool_calls[0]).toMatchObject({ id: expect.stringMatching(/^call_/), type: "function" });
    expect(finish_reason).toBe("tool_calls");
  });

  test("can be told not to think", async () => {
    const { body } = await call(
      sim,
      chat,
      ask("Hm?", { model: "m", chat_template_kwargs: { enable_thinking: false } }),
    );
    expect(body.choices[0].message[reasoning] || null).toBeNull();
  });

  test("completes text", async () => {
    const { body } = await call(sim, "/v1/completions", { model: "m", prompt: "Once" });
    const chunks = await stream(sim, "/v1/completions", { ...usual, prompt: "Once" });
    expect(chunks.map((chunk) => chunk.choices?.[0]?.text ?? "").join("")).toBe(body.choices[0].text);
    expect(chunks.findLast((chunk) => chunk.usage?.prompt_tokens).usage.completion_tokens).toBe(
      body.usage.completion_tokens,
    );
  });
});

test("vLLM calls it a stop when the tool was demanded by name", async () => {
  const sim = await startSimulator({ models: ["m"], speed: 0 });
  const demand = { tools: [weather], tool_choice: { type: "function", function: { name: "get_weather" } } };
  const { body } = await call(sim, chat, ask("Hello", demand));
  expect(body.choices[0].message.tool_calls).toHaveLength(1);
  expect(body.choices[0].finish_reason).toBe("stop");
  await sim.close();
});

test("Ollama's own chat streams documents by the line", async () => {
  const sim = await startSimulator({
    dialect: "ollama",
    models: [{ id: "m", thinking: { mode: "default_off" } }],
    speed: 0,
  });
  const question = ask("[[sim:text=one two]]", { model: "m", think: true, options: { num_predict: 200 } });
  const response = await post(sim, "/api/chat", question);
  expect(response.headers.get("content-type")).toBe("application/x-ndjson");
  const lines = (await response.text())
    .trimEnd()
    .split("\n")
    .map((line): Answer => JSON.parse(line));
  expect(lines.map(({ message }) => message.content).join("")).toBe("one two");
  expect(lines.map(({ message }) => message.thinking ?? "").join("")).toMatch(/^Simulated thinking/);
  expect(lines.at(-1)).toMatchObject({ done: true, done_reason: "stop", prompt_eval_count: expect.any(Number) });
  const whole = await call(sim, "/api/chat", { ...question, stream: false });
  expect(whole.body).toMatchObject({ done: true, message: { content: "one two" } });
  await sim.close();
});

function withContinuous(name: string, body: object): object {
  const options = { include_usage: true, continuous_usage_stats: true };
  return ["vllm", "sglang", "trtllm"].includes(name) ? { ...body, stream_options: options } : body;
}

function kindOf(chunk: Answer): string {
  if (chunk === "[DONE]") {
    return chunk;
  }
  const choice = chunk.choices?.[0]?.finish_reason ? "choice" : "";
  return [choice, chunk.usage ? "usage" : ""].filter(Boolean).join("+");
}

function finishes(chunks: readonly Answer[]): string[] {
  return chunks.flatMap((chunk) => chunk.choices?.[0]?.finish_reason ?? []);
}

function countsOf(usage: Answer): number[] {
  return [usage.prompt_tokens, usage.completion_tokens, usage.total_tokens];
}

test("vLLM sends its first token at once, its last one, and between them no piece below the interval", async () => {
  const sim = await startSimulator({ dialect: "vllm", models: [{ id: "m" }] });
  try {
    const asked = { ...withContinuous("vllm", { model: "m" }), max_tokens: 40, stream_interval: 16, stream: true };
    const response = await post(sim, chat, ask("[[sim:tokens=50]]", asked));
    const counts = new Set<number>();
    let text = "";
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      counts.add(eventsIn(text).findLast((chunk) => chunk.usage?.completion_tokens)?.usage.completion_tokens);
    }
    const [first = 0, ...later] = counts;
    const last = later.pop() ?? first;
    expect(last).toBe(40);
    expect(later.every((count, at) => count - (later[at - 1] ?? first) >= 16)).toBe(true);
    expect(joined(eventsIn(text), "content").split(" ").length).toBeGreaterThan(20);
  } finally {
    await sim.close();
  }
});
