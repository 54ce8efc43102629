import { getEventListeners } from "node:events";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, createClient, type HandlerContext, type Interceptor } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type GenerateResponseSchema, InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { WholeAnswer } from "#lib/rpc/whole-answer.ts";
import { systemClock } from "#lib/time/clock.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { type EndedCall, observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { textsOf, untilAborted } from "../scripted-service.ts";
import { type OpenRoute, routes } from "../transports.ts";
import { drain, errorOf, rateLimited, transportTo } from "./calls.ts";

// What every way to a service promises of a stream whose only message is made before anything of it is sent.

type Made = MessageInitShape<typeof GenerateResponseSchema>;

const answer = (value: string): Made => ({ events: [{ event: { case: "text", value } }] });

async function clientOf(open: OpenRoute, make: (context: HandlerContext) => Promise<Made>, around: Interceptor[] = []) {
  const service = {
    generate: (_request: unknown, context: HandlerContext) => new WholeAnswer(() => make(context)),
  };
  return createClient(InferenceService, await transportTo(open, [registration(InferenceService, service)], around));
}

describe.each(routes)("%s: a whole answer", (_name, open) => {
  test("arrives, with headers before it and trailers after it", async () => {
    const client = await clientOf(open, async ({ responseHeader, responseTrailer }) => {
      responseHeader.set("x-header", "first");
      responseTrailer.set("x-trailer", "last");
      return answer("a");
    });
    const order: unknown[] = [];
    const stream = client.generate(
      {},
      {
        onHeader: (header) => order.push(header.get("x-header")),
        onTrailer: (trailer) => order.push(trailer.get("x-trailer")),
      },
    );
    for await (const message of stream) {
      expect(message.$typeName).toBe("tollgate.inference.v1.GenerateResponse");
      order.push(...textsOf(message));
    }
    expect(order).toEqual(["first", "a", "last"]);
  });

  test("fails with the typed detail", async () => {
    const client = await clientOf(open, () => Promise.reject(rateLimited()));
    const error = await errorOf(drain(client.generate({})));
    expect(error.code).toBe(Code.ResourceExhausted);
    expect(readDetail(error)?.reason).toBe(Reason.RATE_LIMITED);
  });

  test.each([
    ["that its caller gives up", Code.Canceled, undefined],
    ["whose deadline passes", Code.DeadlineExceeded, 500],
  ])("%s ends on both sides", async (_when, code, timeoutMs) => {
    const handled = Promise.withResolvers<unknown>();
    const cancel = new AbortController();
    const client = await clientOf(open, async (context) => {
      if (timeoutMs === undefined) {
        cancel.abort();
      }
      return untilAborted(context).catch((reason: unknown) => {
        handled.resolve(reason);
        throw reason;
      });
    });
    const options = { signal: cancel.signal, ...(timeoutMs !== undefined && { timeoutMs }) };
    expect((await errorOf(drain(client.generate({}, options)))).code).toBe(code);
    await handled.promise;
    expect(getEventListeners(cancel.signal, "abort")).toEqual([]);
  });

  test.each([
    ["made", async () => answer("a"), undefined],
    ["refused", () => Promise.reject(rateLimited()), Code.ResourceExhausted],
  ])("that is %s is observed once", async (_how, make, code) => {
    const calls: EndedCall[] = [];
    const client = await clientOf(open, make, [observeCalls(systemClock, [(call) => calls.push(call)])]);
    await drain(client.generate({})).catch(() => {});
    expect(calls).toMatchObject([{ method: InferenceService.method.generate, code }]);
  });
});
