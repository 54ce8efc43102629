import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { detailOf, tokenBoundOf } from "../../../lib/errors/detail.ts";
import { failure } from "../../../lib/errors/failure.ts";
import type { ServedModel } from "../../../src/catalogue/interface.ts";
import type { EngineOutput } from "../../../src/engines/interface.ts";
import type { FleetRequest } from "../../../src/fleet/interface.ts";
import { fittedGeneration } from "../../../src/inference/output-fit/fitted-generation.ts";

const model = { context_length: 1000 } as ServedModel;
const output: EngineOutput = { events: [] };
const tooLong = failure(Reason.CONTEXT_LENGTH_EXCEEDED, "The prompt is too long.");
const broken = failure(Reason.ENGINE_FAILED, "It broke.");

/** Generates at most 300 tokens; each try takes one script, and an Error in it is thrown. */
async function run(scripts: readonly (readonly (EngineOutput | Error)[])[], counted: number | undefined) {
  const limits: number[] = [];
  let counts = 0;
  const fleet = {
    async *generate(_: ServedModel, { maxOutputTokens }: FleetRequest) {
      limits.push(maxOutputTokens);
      for (const step of scripts[limits.length - 1] ?? []) {
        if (step instanceof Error) {
          throw step;
        }
        yield step;
      }
    },
  };
  const count = async () => {
    counts++;
    return counted;
  };
  const request = { maxOutputTokens: 300 } as FleetRequest;
  const { signal } = new AbortController();
  const outputs: EngineOutput[] = [];
  let error: unknown;
  try {
    for await (const one of fittedGeneration(fleet, model, request, count, signal)) {
      outputs.push(one);
    }
  } catch (thrown) {
    error = thrown;
  }
  const detail = detailOf(error);
  return { limits, counts, outputs, reason: detail?.reason, actual: detail && tokenBoundOf(detail).actual };
}

test("what fits runs once, uncounted", async () => {
  expect(await run([[output, output]], 10)).toMatchObject({ limits: [300], counts: 0, outputs: [output, output] });
});

test("what is refused is counted and runs with what is left", async () => {
  const ran = await run([[tooLong], [output]], 900);
  expect(ran).toMatchObject({ limits: [300, 100], counts: 1, outputs: [output], reason: undefined });
});

test.each<
  [string, readonly (EngineOutput | Error)[], number | undefined, number, Partial<Awaited<ReturnType<typeof run>>>]
>([
  ["no room is left", [tooLong], 1200, 1, { reason: Reason.CONTEXT_LENGTH_EXCEEDED, actual: 1200n }],
  ["nobody can count", [tooLong], undefined, 1, { reason: Reason.CONTEXT_LENGTH_EXCEEDED, actual: undefined }],
  ["it fits by the count", [tooLong], 500, 1, { reason: Reason.CONTEXT_LENGTH_EXCEEDED, actual: undefined }],
  ["something else is wrong", [broken], 900, 0, { reason: Reason.ENGINE_FAILED }],
  ["the answer has begun", [output, tooLong], 900, 0, { reason: Reason.CONTEXT_LENGTH_EXCEEDED }],
])("a refusal stays one when %s", async (_, script, counted, counts, expected) => {
  expect(await run([script, [output]], counted)).toMatchObject({ limits: [300], counts, ...expected });
});
