import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail, readTokenBound } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import type { EngineOutput } from "#src/fleet/engines/interface.ts";
import { contextExceeded, engineFailed } from "#src/fleet/engines/shared/faults.ts";
import type { FleetRequest } from "#src/fleet/interface.ts";
import { fittedGeneration } from "#src/services/inference/output-fit/fitted-generation.ts";
import { drain } from "../../../fleet/engines/collect.ts";

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
    for await (const one of fittedGeneration({ fleet, model, countInput: count }, request, signal)) {
      outputs.push(one);
    }
  } catch (thrown) {
    error = thrown;
  }
  const detail = readDetail(error);
  return { limits, counts, outputs, reason: detail?.reason, actual: detail && readTokenBound(detail).actual };
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

/** A fleet whose engines refuse until so little output is asked for; notes what it was asked. */
function refusing(refusal: (asked: number) => Error | undefined) {
  const asked: number[] = [];
  const fleet = {
    async *generate(_: ServedModel, { maxOutputTokens }: FleetRequest) {
      asked.push(maxOutputTokens);
      const error = refusal(maxOutputTokens);
      if (error !== undefined) {
        throw error;
      }
      yield output;
      yield output;
    },
  };
  return { asked, fleet };
}

const overflow = (actual: number | undefined) => contextExceeded("full", { limit: 1000, actual });

test.each<[string, (asked: number) => Error | undefined, number[], boolean]>([
  ["what fits is asked once", () => undefined, [990], true],
  [
    "what passes the context is asked for again, with one token to spare",
    (n) => (n + 20 >= 1000 ? overflow(20) : undefined),
    [990, 979],
    true,
  ],
  [
    "an engine that keeps more to itself gets more room",
    (n) => (n + 20 > 950 ? overflow(20) : undefined),
    [990, 979, 852],
    true,
  ],
  ["and no further try after that", (n) => (n > 1 ? overflow(20) : undefined), [990, 979, 852], false],
  ["a prompt that does not fit is refused", () => overflow(1200), [990], false],
  ["a prompt whose length is not told is refused", () => overflow(undefined), [990], false],
  ["another failure is one", () => engineFailed("broken", true), [990], false],
])("an engine that tells its numbers: %s", async (_, refusal, expected, works) => {
  const { asked, fleet } = refusing(refusal);
  const request = { maxOutputTokens: 990 } as FleetRequest;
  const fitted = fittedGeneration({ fleet, model, countInput: undefined }, request, new AbortController().signal);
  const { outputs, error } = await drain(fitted);
  expect(asked).toEqual(expected);
  expect([outputs.length, error === undefined]).toEqual(works ? [2, true] : [0, false]);
});

test("numbers that do not help are followed by a count", async () => {
  const { asked, fleet } = refusing((n) => (n > 700 ? overflow(20) : undefined));
  const request = { maxOutputTokens: 990 } as FleetRequest;
  const { signal } = new AbortController();
  const { error } = await drain(fittedGeneration({ fleet, model, countInput: async () => 300 }, request, signal));
  expect([asked, error]).toEqual([[990, 979, 852, 700], undefined]);
});
