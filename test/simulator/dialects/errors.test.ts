import { describe, expect, test } from "@jest/globals";
import { type DialectName, dialectNames } from "../../../simulator/options.ts";
import { type Simulator, startSimulator } from "../../../simulator/server.ts";
import { type Answer, ask, call } from "../client.ts";

const chat = "/v1/chat/completions";
const models = [{ id: "m", contextLength: 100 }];
const long = "word ".repeat(120); // 129 tokens with the template

async function served(
  dialect: DialectName,
  use: (sim: Simulator) => Promise<void>,
  more: { truncates?: boolean } = {},
): Promise<void> {
  const sim = await startSimulator({ dialect, models, speed: 0, ...more });
  try {
    await use(sim);
  } finally {
    await sim.close();
  }
}

describe("a prompt that is too long", () => {
  test.each<[DialectName, number, Answer]>([
    [
      "vllm",
      400,
      {
        error: {
          message:
            "You passed 101 input tokens and requested 0 output tokens. However, the model's context length is only 100 tokens, resulting in a maximum input length of 100 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=101)",
          type: "BadRequestError",
          param: "input_tokens",
          code: 400,
        },
      },
    ],
    [
      "sglang",
      400,
      {
        object: "error",
        message: "The input (129 tokens) is longer than the model's context length (100 tokens).",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
    ],
    [
      "llama.cpp",
      400,
      {
        error: {
          code: 400,
          message: "request (129 tokens) exceeds the available context size (100 tokens), try increasing it",
          type: "exceed_context_size_error",
          n_prompt_tokens: 129,
          n_ctx: 100,
        },
      },
    ],
    [
      "trtllm",
      400,
      {
        object: "error",
        message: "The sum of prompt length (129.0), query length (0) should not exceed max_num_tokens (100)",
        type: "BadRequestError",
        param: null,
        code: 400,
      },
    ],
    [
      "openai",
      400,
      {
        error: {
          message:
            "This model's maximum context length is 100 tokens. However, you requested 129 tokens (129 in the messages, 0 in the completion). Please reduce the length of the messages or completion.",
          type: "invalid_request_error",
          param: "messages",
          code: "context_length_exceeded",
        },
      },
    ],
  ])("is refused by %s with %d", async (dialect, status, body) => {
    await served(dialect, async (sim) => {
      expect(await call(sim, chat, ask(long))).toEqual({ status, body });
      expect(await call(sim, chat, ask(long, { stream: true }))).toEqual({ status, body });
    });
  });

  test("is cut by Ollama, which says nothing", async () => {
    await served("ollama", async (sim) => {
      const { status, body } = await call(sim, chat, ask(long));
      expect(status).toBe(200);
      expect(body.usage.prompt_tokens).toBe(99);
    });
  });

  test("is refused by Ollama's own chat when the request says so", async () => {
    await served("ollama", async (sim) => {
      const refusal = { status: 400, body: { error: "the input length exceeds the context length" } };
      expect(await call(sim, "/api/chat", ask(long, { truncate: false }))).toEqual(refusal);
    });
  });
});

describe("an answer that is asked to be too long", () => {
  test.each<[DialectName, number, string]>([
    [
      "vllm",
      93,
      "You passed 8 input tokens and requested 93 output tokens. However, the model's context length is only 100 tokens, resulting in a maximum input length of 7 tokens.",
    ],
    ["vllm", 101, "max_tokens=101cannot be greater than max_model_len=max_total_tokens=100. Please"],
    [
      "sglang",
      93,
      "Requested token count exceeds the model's maximum context length of 100 tokens. You requested a total of 102 tokens: 9 tokens from the input messages and 93 tokens for the completion.",
    ],
    ["openai", 93, "However, you requested 102 tokens (9 in the messages, 93 in the completion)."],
  ])("is refused by %s for %d", async (dialect, asked, message) => {
    await served(dialect, async (sim) => {
      const { status, body } = await call(sim, chat, ask("Hello", { max_tokens: asked }));
      expect(status).toBe(400);
      expect(body.error?.message ?? body.message).toContain(message);
    });
  });

  // "Hello" is a prompt of 9 tokens.
  test.each<[DialectName, number, number]>([
    ["vllm", 91, 91],
    ["sglang", 90, 90], // one short of the context
    ["llama.cpp", 500, 91],
    ["ollama", 500, 91],
    ["trtllm", 500, 91],
    ["openai", 91, 91],
  ])("fits %s at %d with %d", async (dialect, asked, given) => {
    await served(dialect, async (sim) => {
      const { body } = await call(sim, chat, ask("Hello", { max_tokens: asked, ignore_eos: true }));
      expect(body.usage.completion_tokens).toBe(given);
      expect(body.choices[0].finish_reason).toBe("length");
    });
  });
});

test.each<[DialectName, number]>([
  ["vllm", 404],
  ["ollama", 404],
  ["openai", 404],
  ["sglang", 200],
  ["llama.cpp", 200],
  ["trtllm", 200],
  ["transformers", 200],
])("%s answers %d to a model name that it does not know", async (dialect, expected) => {
  await served(dialect, async (sim) => {
    expect((await call(sim, chat, ask("Hello", { model: "other" }))).status).toBe(expected);
  });
});

test.each(dialectNames.filter((name) => name !== "tei"))("%s and a field that it does not know", async (dialect) => {
  await served(dialect, async (sim) => {
    const { status, body } = await call(sim, chat, ask("Hello", { surprise: 1 }));
    expect(status).toBe(dialect === "trtllm" ? 400 : 200);
    if (dialect === "trtllm") {
      expect(body.error).toMatch(/extra_forbidden.*'surprise'/);
    }
  });
});
