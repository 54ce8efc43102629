import { expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import type { ServedModel } from "#src/fleet/catalogue/interface.ts";
import { limitOutput } from "#src/services/inference/output-fit/output-limit.ts";

const model = { context_length: 1000, max_output: 400, servers: [{ engine: "ollama" }] } as unknown as ServedModel;
const unasked = async () => {
  throw new Error("the tokenizer must not be asked");
};

test.each([
  ["nothing asked", undefined, 100, { input: 100, output: 400 }],
  ["less than the maximum", 50, 100, { input: 100, output: 50 }],
  ["more than the maximum", 5000, 100, { input: 100, output: 400 }],
  ["all that is left", 400, 600, { input: 600, output: 400 }],
])("settles without the tokenizer: %s", async (_, asked, bound, expected) => {
  const limits = await limitOutput(model, asked, { bound, estimate: bound, count: unasked });
  expect(limits).toEqual({ ...expected, mayPass: false });
});

test("leaves the tokenizer alone when all is likely to fit", async () => {
  const limits = await limitOutput(model, 300, { bound: 2000, estimate: 700, count: unasked });
  expect(limits).toEqual({ input: 2000, output: 300, mayPass: true });
});

test.each([
  ["the count leaves room", 400, 700, 500, { input: 500, output: 400 }],
  ["the count leaves less", 400, 2000, 900, { input: 900, output: 100 }],
  ["the count leaves one", undefined, 2000, 999, { input: 999, output: 1 }],
])("asks the tokenizer: %s", async (_, asked, bound, exact, expected) => {
  const limits = await limitOutput(model, asked, { bound, estimate: bound, count: async () => exact });
  expect(limits).toEqual({ ...expected, mayPass: false });
});

test.each([1000, 1001, 50_000])("refuses a prompt of %i tokens", async (exact) => {
  const limits = limitOutput(model, 10, { bound: exact * 4, estimate: exact, count: async () => exact });
  const limited = Promise.resolve(limits);
  const error = await limited.catch((thrown: unknown) => thrown);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.CONTEXT_LENGTH_EXCEEDED,
    bound: { case: "tokens", value: { limit: 1000n, actual: BigInt(exact), estimated: false } },
  });
});

test("an engine that may take more than its context gets no prompt that is about longer", async () => {
  const boundless = { ...model, servers: [{ engine: "openai" }] } as unknown as ServedModel;
  const length = { bound: 9000, count: async () => undefined };
  const limits = Promise.resolve(limitOutput(boundless, 10, { ...length, estimate: 1500 }));
  const error = await limits.catch((thrown: unknown) => thrown);
  expect(readDetail(error)).toMatchObject({
    reason: Reason.CONTEXT_LENGTH_EXCEEDED,
    bound: { case: "tokens", value: { limit: 1000n, actual: 1500n, estimated: true } },
  });
  expect(await limitOutput(boundless, 300, { ...length, estimate: 999 })).toMatchObject({ output: 1 });
  const counted = { ...length, estimate: 1500, count: async () => 900 };
  expect(await limitOutput(boundless, 300, counted)).toMatchObject({ output: 100 });
});

test("leaves the decision to an engine without a tokenizer", async () => {
  const count = async () => undefined;
  expect(await limitOutput(model, 300, { bound: 3200, estimate: 800, count })).toMatchObject({
    input: 3200,
    output: 200,
  });
  expect(await limitOutput(model, 300, { bound: 9000, estimate: 3000, count })).toMatchObject({
    input: 9000,
    output: 1,
  });
});
