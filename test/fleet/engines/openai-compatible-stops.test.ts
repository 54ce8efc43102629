import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { systemClock } from "#lib/time/clock.ts";
import { configSchema } from "#src/config/schema.ts";
import { createEngine } from "#src/fleet/engines/drivers/create-engine.ts";
import { AnswerBuilder } from "#src/fleet/engines/shared/answer/answer-builder.ts";
import { drain, join } from "./collect.ts";
import { chatRequest } from "./requests.ts";
import { scriptedServer } from "./scripted-server.ts";

// A server of which nothing is known may write on beyond a stop sequence.

test.each<[string, string[], string[], string, boolean]>([
  ["in one piece", ["Hello STOP more", " and more"], ["STOP"], "Hello ", true],
  ["that the engine heeds, and keeps", ["Hello ", "STOP"], ["STOP"], "Hello ", false],
  ["split over pieces", ["Hello S", "T", "OP and", " more"], ["STOP"], "Hello ", true],
  ["that begins and does not come", ["Hello S", "TO", " more"], ["STOP"], "Hello STO more", false],
  ["the first of several", ["a b", " c d", " e"], ["d", " c"], "a b", true],
  ["at the very beginning", ["STOP", "more"], ["STOP"], "", true],
  ["that only the end might begin", ["Hello ST"], ["STOP"], "Hello ST", false],
  ["none asked for", ["Hello STOP"], [], "Hello STOP", false],
])("an answer ends before a stop sequence: %s", (_, pieces, stopSequences, text, isCut) => {
  const traits = { where: "engine", sendsReasoning: false, mayIgnoreStops: true } as const;
  const answer = new AnswerBuilder(chatRequest("hi", { stopSequences }), traits);
  const outputs = [];
  for (const piece of pieces) {
    answer.touch();
    if (!answer.complete) {
      answer.addText(piece);
    }
    outputs.push(answer.take());
  }
  if (!answer.complete) {
    answer.touch();
    answer.addFinish("stop");
    outputs.push(answer.take());
  }
  expect(join(outputs.flatMap((output) => output?.events ?? [])).text).toBe(text);
  expect(answer.isCut).toBe(isCut);
});

/** An engine that sends these chunks and then, unless it is told to end, nothing. */
async function ask(chunks: readonly object[], ends: boolean) {
  const closed = Promise.withResolvers<void>();
  await using server = await scriptedServer({
    "/v1/chat/completions": (_, response) => {
      void once(response, "close").then(() => closed.resolve());
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join(""));
      if (ends) {
        response.end();
      }
    },
  });
  const { models, fleet } = configSchema.parse({
    models: [{ id: "m", servers: [{ url: server.url, engine: "openai" }] }],
  });
  const [model] = models;
  if (model?.servers[0] === undefined) {
    throw new Error("there is no server");
  }
  const engine = createEngine(model.servers[0], model, fleet, systemClock);
  const request = chatRequest("hi", { stopSequences: ["STOP"] });
  const { answer, outputs, error } = await drain(engine.generate(request, new AbortController().signal));
  await closed.promise;
  await engine.close();
  return { text: answer.text, last: outputs.at(-1), error };
}

const piece = (content: string) => ({ choices: [{ delta: { content } }] });
const counted = (content: string, completion_tokens: number) => ({
  ...piece(content),
  usage: { prompt_tokens: 9, completion_tokens },
});
const finish = { choices: [{ delta: {}, finish_reason: "stop" }] };
const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } };
const bound = (outputTokens: number) => ({ inputTokens: 1, outputTokens, isLowerBound: true });
const told = (outputTokens: number) => ({ inputTokens: 9, outputTokens });

test.each<[string, object[], boolean, object]>([
  ["that heeds it is paid its own count", [piece("Hello"), piece(" ST"), piece("OP"), finish, usage], true, told(4)],
  ["that writes on is stopped and paid what it sent", [piece("Hello"), piece(" STOP"), piece(" and")], false, bound(2)],
  [
    "that counts as it writes on is paid its count at the sequence",
    [counted("Hello", 1), counted(" STOP", 2), counted(" and", 3)],
    false,
    told(2),
  ],
  ["that ends without a word is paid what it sent", [piece("Hello"), piece(" STOP")], true, bound(2)],
])("an engine %s", async (_, chunks, ends, expected) => {
  const { text, last, error } = await ask(chunks, ends);
  expect(error).toBeUndefined();
  expect(text).toBe("Hello ");
  expect(last).toEqual({ events: expect.anything(), finish: FinishReason.STOP, usage: expected });
});
