import { Code } from "@connectrpc/connect";
import { afterEach, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { markUnheard } from "#lib/errors/unheard.ts";
import { createChannelTransport } from "#src/wire/grpc/client/channel-transport.ts";
import type { Gate } from "#src/wire/grpc/server/gate.ts";
import { startGrpcServer } from "#src/wire/grpc/server/server.ts";
import { trustFacades } from "#src/wire/interceptors/access/client-address.ts";
import { type EndedCall, observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { eventually } from "../support/eventually.ts";
import { startFront } from "./http/front-server.ts";
import { refused, scriptedCore } from "./http/scripted-core.ts";

// A front whose core is another process: what it refuses itself the core learns all the same.

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

/** Starts both. `admit` is the core's gate; returns how the calls of the core ended too. */
async function start(admit: Gate["admit"] = () => "payer", trusts = trustFacades([])) {
  const calls: object[] = [];
  const note = ({ method, refusedStatus, reason, requestId }: EndedCall) =>
    calls.push({ name: method.name, refusedStatus, reason, requestId });
  const observe = observeCalls(new ManualClock(), [note], { trusts, isServed: () => false });
  const core = scriptedCore();
  const server = await startGrpcServer({
    ...{ address: "127.0.0.1:0", services: core.services, interceptors: [observe] },
    gate: { admit, judge: async () => {} },
  });
  closing.push(() => server.stop(0));
  const transport = createChannelTransport({ target: server.address, onUnsent: markUnheard });
  closing.push(() => transport.close());
  const front = await startFront(transport);
  closing.push(() => front[Symbol.asyncDispose]());
  const send = (path: string, body?: string) =>
    fetch(front.url + path, {
      headers: { authorization: "Bearer tg-1" },
      ...(body !== undefined && { method: "POST", body }),
    });
  return { front, calls, log: core.log, send };
}

const tooMany = async () => {
  throw refused(Reason.RATE_LIMITED, "Too many requests.", Code.ResourceExhausted);
};
const unknown = async () => {
  throw refused(Reason.UNAUTHENTICATED, "Unknown.", Code.Unauthenticated);
};

test.each<[string, Gate["admit"]]>([
  ["a key over its rate", tooMany],
  ["a wrong key", unknown],
  ["a right key", () => "payer"],
])("a path that nobody serves is recorded as such for %s", async (_, admit) => {
  const { calls, send } = await start(admit);
  const response = await send("/v1/nowhere");
  expect(response.status).toBe(404);
  await eventually("the core is told", () => calls.length > 0);
  expect(calls).toMatchObject([
    { name: "IdentifyCaller", refusedStatus: 404, requestId: response.headers.get("x-request-id") },
  ]);
});

test("whoever is not trusted to forward requests tells of no refusal before the gate has let it in", async () => {
  const { calls, send } = await start(tooMany, () => false);
  expect((await send("/v1/nowhere")).status).toBe(404);
  await eventually("the core is told", () => calls.length > 0);
  expect(calls).toMatchObject([{ refusedStatus: 0, reason: Reason.RATE_LIMITED }]);
});

/** Less than two megabytes, which are seven in translation. */
const growing = JSON.stringify({
  ...{ model: "m", messages: [{ role: "user", content: "Hi" }] },
  tools: [{ type: "function", function: { name: "f", parameters: "HERE" } }],
}).replace('"HERE"', `{"enum":[${"1e20,".repeat(350_000)}0]}`);

test("a request that grows too large in translation is counted, and has its line and its record", async () => {
  const { front, calls, log, send } = await start();
  const response = await send("/v1/chat/completions", growing);
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({ error: { code: "request_too_large" } });
  expect(log.counted).toBe(1);
  const requestId = response.headers.get("x-request-id");
  expect(front.lines).toMatchObject([{ requestId, status: 413, reason: "REQUEST_TOO_LARGE" }]);
  expect(calls).toMatchObject([
    { name: "IdentifyCaller", refusedStatus: 0 }, // before so large a body is read
    { name: "CountRequest", refusedStatus: 413, requestId },
  ]);
});

test("of its key the core judges first", async () => {
  const { front, send } = await start(tooMany);
  expect((await send("/v1/chat/completions", growing)).status).toBe(429);
  expect(front.lines).toEqual([]);
});
