import { once } from "node:events";
import { expect, test } from "@jest/globals";
import { FinishReason } from "#gen/tollgate/inference/v1/generation_event_pb.js";
import { configSchema } from "../../src/config/schema.ts";
import { createEngine } from "../../src/engines/create-engine.ts";
import { AnswerBuilder } from "../../src/engines/shared/answer/answer-builder.ts";
import { drain, join } from "./collect.ts";
import { chatRequest } from "./requests.ts";
import { scriptedServer } from "./scripted-server.ts";

// A server of which nothing is known may write on beyond a stop sequence.

test.each<[string, string[], string[], string, boolean]>([
  ["in one piece", ["Hello STOP more"], ["STOP"], "Hello ", true],
  ["split over pieces", ["Hello S", "T", "OP and", " more"], ["STOP"], "Hello ", true],
  ["that begins and does not come", ["Hello S", "TO", " more"], ["STOP"], "Hello STO more", false],
  ["the first of several", ["a b", " c d"], ["d", " c"], "a b", true],
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

test("the engine is stopped at the cut, and what it wrote so far is the count", async () => {
  const closed = Promise.withResolvers<void>();
  await using server = await scriptedServer({
    "/v1/chat/completions": (_, response) => {
      void once(response, "close").then(() => closed.resolve());
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const content of ["Hello", " ST", "OP", " and more"]) {
        response.write(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`);
      }
      // It never ends by itself.
    },
  });
  const { models, fleet } = configSchema.parse({
    models: [{ id: "m", servers: [{ url: server.url, engine: "openai" }] }],
  });
  const [model] = models;
  if (model?.servers[0] === undefined) {
    throw new Error("there is no server");
  }
  const engine = createEngine(model.servers[0], model, fleet);
  const request = chatRequest("hi", { stopSequences: ["STOP"] });
  const { answer, outputs, error } = await drain(engine.generate(request, new AbortController().signal));
  expect(error).toBeUndefined();
  expect(answer.text).toBe("Hello ");
  expect(outputs.at(-1)).toMatchObject({ finish: FinishReason.STOP, usage: { isLowerBound: true } });
  expect(outputs.at(-1)?.usage?.outputTokens).toBeLessThanOrEqual(3);
  await closed.promise;
  await engine.close();
});
