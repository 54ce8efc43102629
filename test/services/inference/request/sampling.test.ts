import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { SamplingSchema } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { settleSampling } from "#src/services/inference/request/sampling.ts";
import { createChecks } from "#src/wire/interceptors/validation/message-checks.ts";

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
  [{ temperature: -0.1 }, "temperature"],
  [{ temperature: 2.1 }, "temperature"],
  [{ temperature: Number.NaN }, "temperature"],
  [{ topP: 0 }, "top_p"],
  [{ topP: 1.5 }, "top_p"],
  [{ presencePenalty: -2.5 }, "presence_penalty"],
  [{ minP: 1.1 }, "min_p"],
  [{ repetitionPenalty: 0 }, "repetition_penalty"],
  [{ frequencyPenalty: Number.POSITIVE_INFINITY }, "frequency_penalty"],
])("the contract refuses %j", (init, path) => {
  expect(createChecks()(SamplingSchema)?.(asked(init))).toMatchObject({ path });
});
