import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readDetail } from "#lib/errors/detail.ts";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import { llamaCpp } from "#src/fleet/engines/llama-cpp/dialect.ts";
import { LineReader } from "#src/fleet/engines/ollama/stream.ts";
import { AnswerBuilder } from "#src/fleet/engines/shared/answer/answer-builder.ts";
import { StopSequences } from "#src/fleet/engines/shared/answer/stop-sequences.ts";
import { ChunkParser } from "#src/fleet/engines/shared/chat-completions/chunk-parser.ts";
import { ChunkReader } from "#src/fleet/engines/shared/chat-completions/chunk-reader.ts";
import { SseReader } from "#src/fleet/engines/shared/chat-completions/stream.ts";
import { SseParser } from "#src/fleet/engines/shared/http/sse-parser.ts";
import type { StreamReader } from "#src/fleet/engines/shared/http/stream.ts";
import { vllm } from "#src/fleet/engines/vllm/dialect.ts";
import { fuzzing } from "../../../support/fuzz.ts";
import { join } from "../collect.ts";
import { chatRequest } from "../requests.ts";

// Whatever bytes come, however they are cut: the same events, and no failure but the engine's.

const recipe = { mode: "default_on", depths: false, switch: "chat_template_kwargs" } as const;

const readers: Record<string, () => StreamReader> = {
  sse: () => reader(vllm),
  "sse with timings": () => reader(llamaCpp),
  ndjson: () => new LineReader("engine", builder()),
};

function builder(): AnswerBuilder {
  const traits = { where: "engine", sendsReasoning: false };
  return new AnswerBuilder(chatRequest("hi", { recipe }), traits);
}

function reader(dialect: typeof vllm): StreamReader {
  return new SseReader("engine", new ChunkReader("engine", dialect, new ChunkParser(), builder()));
}

/** Everything that becomes of some bytes, and how it ended. */
function read(of: () => StreamReader, pieces: readonly Buffer[]) {
  const stream = of();
  const outputs: EngineOutput[] = [];
  const take = () => {
    const output = stream.take();
    if (output !== undefined) {
      outputs.push(output);
    }
  };
  let failure: unknown;
  try {
    for (const piece of pieces) {
      stream.push(piece);
      take();
    }
    stream.end();
  } catch (error) {
    expect(readDetail(error)).toBeDefined();
    failure = readDetail(error)?.reason;
  }
  take();
  const usage = outputs.findLast((output) => output.usage)?.usage;
  return { answer: join(outputs.flatMap(({ events }) => events)), usage, finish: outputs.at(-1)?.finish, failure };
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...sorted].map((from, index) => bytes.subarray(from, sorted[index] ?? bytes.length));
}

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.constantFrom("<think>", "</think>", "\n", "😀"),
);
const anything = fc.oneof(text, fc.jsonValue(), fc.constantFrom(-1, 0.5, 1e300, null));
const mostly = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 20, arbitrary: right }, { weight: 1, arbitrary: anything });
const called = fc.record(
  { name: mostly(fc.constantFrom("f", "g")), arguments: mostly(fc.constantFrom("{}", '{"a"', ":1}", "x")) },
  { requiredKeys: [] },
);
const call = fc.record(
  { index: mostly(fc.nat(3)), id: mostly(fc.constantFrom("a", "b")), function: mostly(called) },
  { requiredKeys: [] },
);
const delta = fc.record(
  { content: mostly(text), reasoning: mostly(text), tool_calls: mostly(fc.array(call, { maxLength: 2 })) },
  { requiredKeys: [] },
);
const count = mostly(fc.nat(100));
const chunk = fc.record(
  {
    choices: mostly(
      fc.array(
        mostly(
          fc.record(
            { delta: mostly(delta), finish_reason: mostly(fc.constantFrom(null, "stop")) },
            { requiredKeys: [] },
          ),
        ),
        { maxLength: 1 },
      ),
    ),
    usage: mostly(fc.record({ prompt_tokens: count, completion_tokens: count })),
    timings: mostly(fc.record({ prompt_n: count, predicted_n: count })),
    message: mostly(
      fc.record({ content: mostly(text), tool_calls: mostly(fc.array(call, { maxLength: 2 })) }, { requiredKeys: [] }),
    ),
    done: fc.boolean(),
    prompt_eval_count: count,
    eval_count: count,
  },
  { requiredKeys: [] },
);
const frame = (name: string, value: unknown) =>
  name === "ndjson" ? `${JSON.stringify(value)}\n` : `data: ${JSON.stringify(value)}\r\n\r\n`;

describe.each(Object.entries(readers))("%s", (name, of) => {
  test("any cut of the same bytes gives the same answer", () => {
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 8 }), fc.array(fc.nat(), { maxLength: 40 }), (chunks, places) => {
        const bytes = Buffer.from(chunks.map((one) => frame(name, one)).join(""));
        expect(read(of, cut(bytes, places))).toEqual(read(of, [bytes]));
      }),
      fuzzing(300),
    );
  });

  test("random bytes are the engine's failure, or an answer", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom("data: ", "\n\n", "\r", ":", "{", '"choices":[{"delta":', "null", "[DONE]", "}]")
        .map((one) => Buffer.from(one)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        read(of, pieces);
      }),
      fuzzing(500),
    );
  });
});

test("any cut of the same bytes gives the same server-sent events", () => {
  const events = (pieces: readonly Buffer[]) => {
    const seen: string[] = [];
    const sse = new SseParser((data) => seen.push(data));
    for (const piece of pieces) {
      sse.push(piece);
    }
    sse.end();
    return seen;
  };
  const line = fc.constantFrom("data: a\n", "data:é\r\n", "\n", "\r\n", ": c\n", "event: x\n", "data\n", "data: \n");
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), fc.array(fc.nat(), { maxLength: 20 }), (lines, places) => {
      const bytes = Buffer.from(lines.join(""));
      expect(events(cut(bytes, places))).toEqual(events([bytes]));
    }),
    fuzzing(100),
  );
});

test("a text ends before the first stop sequence to end in it, however it is cut", () => {
  const letters = (maxLength: number) => fc.string({ unit: fc.constantFrom("a", "b"), maxLength });
  fc.assert(
    fc.property(
      fc.array(
        letters(5).filter((one) => one !== ""),
        { maxLength: 3 },
      ),
      letters(30),
      fc.array(fc.nat(), { maxLength: 10 }),
      (sequences, whole, places) => {
        const stops = new StopSequences(sequences);
        let shown = "";
        for (const piece of cut(Buffer.from(whole), places)) {
          shown += stops.push(piece.toString());
        }
        shown += stops.end();
        const ends = sequences.flatMap((one) => {
          const at = whole.indexOf(one);
          return at === -1 ? [] : [{ end: at + one.length, start: at }];
        });
        const first = ends.sort((a, b) => a.end - b.end || a.start - b.start)[0];
        expect([shown, stops.stopped]).toEqual([whole.slice(0, first?.start ?? whole.length), first !== undefined]);
      },
    ),
    fuzzing(100),
  );
});
