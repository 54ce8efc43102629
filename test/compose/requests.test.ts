import { readFileSync } from "node:fs";
import { create } from "@bufbuild/protobuf";
import { Code, type Interceptor, type Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { v7 } from "uuid";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { MeteringService } from "#gen/tollgate/metering/v1/metering_service_pb.js";
import { ListRequestsRequestSchema } from "#gen/tollgate/metering/v1/request_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { reasonTexts } from "#lib/errors/reason-texts.ts";
import { systemRandom } from "#lib/ids/random.ts";
import { publicSurfaces } from "#lib/inference/surface-names.ts";
import type { Shortage } from "#lib/overload/monitor.ts";
import type { Foundation } from "#src/compose/core/foundation.ts";
import { recordRequests, statusOf } from "#src/compose/core/requests.ts";
import type { RequestStore } from "#src/money/model/store/request.ts";
import { createMeteringService } from "#src/services/metering/metering-service.ts";
import { listRequests } from "#src/services/metering/requests/request-list.ts";
import { RequestRecorder } from "#src/telemetry/requests/recorder.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { shedLoad } from "#src/wire/interceptors/limits/shed-load.ts";
import { logCalls } from "#src/wire/interceptors/observation/log.ts";
import { type EndedCall, observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { type FrontServer, type FrontSettings, startFront } from "../facades/http/front-server.ts";
import { type Metering, openMetering, testModel } from "../money/fixture.ts";
import { noArchives } from "../money/no-archives.ts";
import { ManualClock } from "../support/clocks/manual-clock.ts";
import { steadyClock } from "../support/clocks/steady-clock.ts";
import { eventually } from "../support/eventually.ts";
import { silentLogger } from "../support/loggers.ts";

// From the x-request-id of a response to its reason, for every reason and on both surfaces: the status, the line of the
// log, the record and the page tell the same.

const caller = { kind: "caller", accountId: v7(), keyId: v7() } as const;
const paths = { chat: "/v1/chat/completions", messages: "/v1/messages" } as const;
const reasons = Object.values(Reason).filter((value): value is Reason => typeof value === "number");
const page = readFileSync("docs/reasons.md", "utf8");

let metering: Metering;
let front: FrontServer;
let transport: Transport;
let recorder: RequestRecorder;
let reason = Reason.UNSPECIFIED;
const lines: object[] = [];
const overload: { shortage: Shortage | undefined } = { shortage: undefined };
const asCaller: Interceptor = (next) => (request) => {
  request.contextValues.set(principalKey, caller);
  return next(request);
};

beforeAll(async () => {
  metering = await openMetering();
  const { storage, store } = metering;
  recorder = new RequestRecorder({
    ...{ store, statusOf, keepDays: 7, most: 1000, clock: steadyClock, logger: silentLogger },
    dropped: () => {
      throw new Error("a record was left out");
    },
  });
  const log = { ...silentLogger };
  for (const level of ["info", "warn", "error"] as const) {
    log[level] = (fields: object) => void lines.push(fields);
  }
  const known = { trusts: () => true, isServed: (model: string) => model === testModel };
  const services = [
    registration(InferenceService, {
      // biome-ignore lint/correctness/useYield: it is refused before it begins.
      async *generate() {
        throw failure(reason, "The message.");
      },
    }),
    registration(AccountsService, { identifyCaller: () => ({ accountId: caller.accountId }) }),
    registration(
      MeteringService,
      createMeteringService({ storage, clock: steadyClock, archives: noArchives, labels: [] }),
    ),
  ];
  const observing = observeCalls(steadyClock, [logCalls(log, steadyClock), recorder.observe], known);
  transport = createDirectTransport(services, [observing, shedLoad(overload), asCaller]);
  front = await startFront(transport);
});
afterAll(async () => {
  await front.server.close(0);
  await metering.close();
});

const headers = { authorization: "Bearer a key", "content-type": "application/json", "x-forwarded-for": "192.0.2.1" };

async function refuse(path: string, body: string, { url }: { readonly url: string } = front) {
  const response = await fetch(url + path, { method: "POST", headers, body });
  await response.text();
  return { status: response.status, id: String(response.headers.get("x-request-id")) };
}

const findGeneration = async (id: string) => (await fetch(`${front.url}/v1/generation?id=${id}`, { headers })).json();

test.each(publicSurfaces.flatMap((surface) => reasons.map((one) => [surface, Reason[one], one] as const)))(
  "%s: %s is told by the status, the log, the record and the page",
  async (surface, name, given) => {
    reason = given;
    const body = { model: testModel, max_tokens: 5, messages: [{ role: "user", content: "Hello" }] };
    const { status, id } = await refuse(paths[surface], JSON.stringify(body));
    const { accountId, keyId } = caller;
    expect(lines.filter((line) => "requestId" in line && line.requestId === id)).toMatchObject(
      // Those that anybody can cause are summed up.
      given === Reason.AUTHENTICATION_THROTTLED ? [] : [{ reason: name, account: accountId, model: testModel }],
    );
    await recorder.write();
    const { requests } = await listRequests(metering.storage, create(ListRequestsRequestSchema, { requestId: id }));
    expect(requests).toMatchObject([
      { requestId: id, accountId, keyId, surface, model: testModel, reason: name, httpStatus: status },
    ]);
    const { what, advice } = reasonTexts[given];
    expect(await findGeneration(id)).toEqual({
      data: {
        ...{ id, created_at: expect.any(String), model: testModel },
        error: { reason: name, message: `${what} ${advice}`, status },
      },
    });
    const row = page.split("\n").find((line) => line.startsWith(`| \`${name}\` `)) ?? "";
    expect(row.split("|").map((cell) => cell.trim())).toEqual(
      expect.arrayContaining([String(status), what.replaceAll("|", "\\|"), advice]),
    );
  },
);

test.each(publicSurfaces)("%s: what the surface itself refuses is recorded for whose key it was", async (surface) => {
  for (const [path, body, status, name] of [
    [paths[surface], "{", 400, "INVALID_ARGUMENT"],
    [paths[surface], `"${"x".repeat(3 * 1024 * 1024)}"`, 413, "REQUEST_TOO_LARGE"],
    [`${paths[surface]}/nothing`, "{}", 404, "UNSUPPORTED"],
    [`/v1/models`, "{}", 405, "UNSUPPORTED"],
  ] as const) {
    const refused = await refuse(path, body);
    expect(refused.status).toBe(status);
    const asked = create(ListRequestsRequestSchema, { requestId: refused.id });
    const [found] = await eventually("it is recorded", async () => {
      await recorder.write();
      const { requests } = await listRequests(metering.storage, asked);
      return requests.length === 0 ? undefined : requests;
    });
    expect(found).toMatchObject({ accountId: caller.accountId, reason: name, httpStatus: status });
  }
});

const small = { ...{ model: testModel, max_tokens: 5 }, messages: [{ role: "user", content: "Hello" }] };
const room = { bodyMemory: 1024, requestsPerAddress: 0 };

describe.each(publicSurfaces)(
  "%s: what is refused for lack of room is logged, and recorded for whose key it was",
  (surface) => {
    test.each([
      ["overload", "OVERLOADED", small, { overload: { shortage: "memory" } }],
      ["a burst", "OVERLOADED", small, { intake: { enter: async () => false } }],
      ["too little memory for bodies", "OVERLOADED", { ...small, x: "x".repeat(400_000) }, { limits: room }],
      ["too many requests of one client", "RATE_LIMITED", small, { limits: room, isTrustedProxy: () => true }],
    ] as const)("%s", async (what, name, body, settings) => {
      await using server = await startFront(transport, { random: systemRandom, ...(settings as FrontSettings) });
      overload.shortage = what === "overload" ? "memory" : undefined; // facade and core are one process
      try {
        const refused = await refuse(paths[surface], JSON.stringify(body), server);
        expect(server.lines).toMatchObject([{ requestId: refused.id, reason: name, status: refused.status }]);
        const asked = create(ListRequestsRequestSchema, { requestId: refused.id });
        const [found] = await eventually("it is recorded", async () => {
          await recorder.write();
          const { requests } = await listRequests(metering.storage, asked);
          return requests.length === 0 ? undefined : requests;
        });
        expect(found).toMatchObject({ accountId: caller.accountId, surface, reason: name, httpStatus: refused.status });
      } finally {
        overload.shortage = undefined;
      }
    });
  },
);

test("of a flood that is shed, fifty requests have a line and are told to the core, and then one line has the sum", async () => {
  const clock = new ManualClock();
  await using server = await startFront(transport, { clock, random: systemRandom, overload: { shortage: "memory" } });
  for (let sent = 0; sent < 60; sent += 1) {
    await refuse(paths.chat, "{}", server);
  }
  expect(server.lines).toHaveLength(50);
  clock.advance(10_000);
  expect(server.lines.slice(50)).toEqual([{ refused: 10, reason: "OVERLOADED", seconds: 10 }]);
});

test("where the record may keep no request, none is written", async () => {
  const written: unknown[] = [];
  const store: RequestStore = { recordRequests: async (group) => void written.push(...group) };
  for (const most of [1000, 0]) {
    const requests = { keep_days: 7, most };
    const foundation = { config: { requests }, clock: steadyClock, logger: silentLogger, metrics: { unrecorded() {} } };
    const record = recordRequests(foundation as unknown as Foundation, store);
    record.observe({ ...refusedCall, requestId: `most ${most}` });
    await record.stop();
  }
  expect(written).toMatchObject([{ requestId: "most 1000" }]);
});

const refusedCall: EndedCall = {
  ...{ method: InferenceService.method.generate, runId: "", code: Code.ResourceExhausted, limit: undefined, model: "" },
  ...{ reason: Reason.BALANCE_EXHAUSTED, refusedStatus: 0, caller: undefined, isKeyless: false, server: "", ms: 1 },
  ...{ surface: "chat", requestId: "" },
};
