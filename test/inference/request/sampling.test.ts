import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { detailOf } from "../../../lib/errors/detail.ts";
import { settleSampling } from "../../../src/inference/request/sampling.ts";

const defaults = { temperature: 0.7, top_p: 1 };
const asked = (init: MessageInitShape<typeof SamplingSchema>) => create(SamplingSchema, init);

test("fills in the model's defaults and leaves the rest to the engine", () => {
  expect(settleSampling(undefined, defaults)).toEqual({
    $typeName: "tollgate.inference.v1.Sampling",
    temperature: 0.7,
    topP: 1,
  });
  expect(settleSampling(asked({ temperature: 0 }), { ...defaults, top_k: 40 })).toMatchObject({
    temperature: 0,
    topP: 1,
    topK: 40,
  });
});

test("what is asked wins", () => {
  const all = { temperature: 2, topP: 0.1, topK: 0, presencePenalty: -2, frequencyPenalty: 2, seed: 7n };
  expect(
    settleSampling(asked(all), { ...defaults, top_k: 40, presence_penalty: 1, frequency_penalty: 1 }),
  ).toMatchObject(all);
});

test.each([
  [{ temperature: -0.1 }, "sampling.temperature"],
  [{ temperature: 2.1 }, "sampling.temperature"],
  [{ temperature: Number.NaN }, "sampling.temperature"],
  [{ topP: 0 }, "sampling.top_p"],
  [{ topP: 1.5 }, "sampling.top_p"],
  [{ presencePenalty: -2.5 }, "sampling.presence_penalty"],
  [{ minP: 1.1 }, "sampling.min_p"],
  [{ repetitionPenalty: 0 }, "sampling.repetition_penalty"],
  [{ frequencyPenalty: Number.POSITIVE_INFINITY }, "sampling.frequency_penalty"],
])("refuses %j", (init, parameter) => {
  let thrown: unknown;
  try {
    settleSampling(asked(init), defaults);
  } catch (error) {
    thrown = error;
  }
  expect(detailOf(thrown)?.parameter).toBe(parameter);
});
