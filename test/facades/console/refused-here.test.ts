import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import { Registry } from "prom-client";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { systemClock } from "#lib/time/clock.ts";
import { type RunningConsole, startConsole } from "#src/compose/console.ts";
import { createDoors } from "#src/compose/process/doors.ts";
import { Lifecycle } from "#src/compose/process/lifecycle.ts";
import { configSchema } from "#src/config/schema.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { silentLogger } from "../../support/loggers.ts";
import { fromPage } from "./console-service.ts";

// Whatever the console refuses has an id: in its answer, in the log, and where the core was asked in what the core knows.

const lines: Record<string, unknown>[] = [];
const asked: string[] = [];
let isAway = false;
const lifecycle = new Lifecycle(silentLogger);
let console: RunningConsole;

beforeAll(async () => {
  const refuse = () => {
    throw isAway ? failure(Reason.SHUTTING_DOWN, "Away.") : failure(Reason.UNAUTHENTICATED, "Nobody.");
  };
  const sessions = { createSession: refuse, getSession: refuse, redeemSignInLink: refuse, beginOidcSignIn: refuse };
  const logger = { ...silentLogger, info: (fields: object) => void lines.push({ ...fields }) };
  console = await startConsole({
    config: configSchema.parse({}),
    address: "127.0.0.1:0",
    transport: createDirectTransport(
      [registration(SessionsService, sessions)],
      [observeCalls(systemClock, [({ requestId }) => void asked.push(requestId)])],
    ),
    front: {
      listener: (_, response) => void response.end(),
      answerMalformed: ({ status }) => ({ status, body: "", headers: {} }),
      address: "127.0.0.1:1",
    },
    doors: createDoors(new Registry(), logger),
    ...{ lifecycle, logger, tls: undefined },
  });
});
beforeEach(() => {
  isAway = false;
  lines.length = 0;
  asked.length = 0;
});
afterAll(() => lifecycle.stop());

const cookie = `__Host-tollgate=tgco_${"a".repeat(49)}; tollgate=tgco_${"a".repeat(49)}`;
const json = { "content-type": "application/json" };
const signIn = { method: "POST", headers: json, body: JSON.stringify({ apiKey: "wrong" }) };
const fromAway = { "sec-fetch-site": "cross-site" };

test.each([
  ["a page that is not there", "/nowhere", {}, 404, "UNSUPPORTED", false],
  ["a method that no page takes", "/overview", { method: "PUT" }, 405, "UNSUPPORTED", false],
  ["a call of nobody", "/a.B/C", { method: "POST" }, 401, "UNAUTHENTICATED", false],
  ["a call of another site", "/session", { headers: fromAway }, 403, "PERMISSION_DENIED", false],
  ["a call that nobody serves", "/a.B/C", { method: "POST", headers: { cookie } }, 403, "PERMISSION_DENIED", false],
  ["a wrong credential", "/session", signIn, 401, "UNAUTHENTICATED", true],
  ["a session that has ended", "/session", { headers: { cookie } }, 401, "UNAUTHENTICATED", true],
  ["the playground of nobody", "/v1/models", {}, 401, "UNAUTHENTICATED", false],
  ["a link that was used", "/link/none", {}, 410, "UNAUTHENTICATED", true],
])("%s", async (_what, path, init: RequestInit, status, reason, isOfCore) => {
  const response = await fetch(console.url + path, {
    redirect: "manual",
    ...init,
    headers: { ...fromPage, ...init.headers },
  });
  expect(response.status).toBe(status);
  const requestId = response.headers.get("x-request-id");
  expect(requestId).toMatch(/^req_[0-9a-f]{32}$/);
  expect(lines).toEqual([{ requestId, reason, status, listener: "console", address: "127.0.0.1" }]);
  expect(asked).toEqual(isOfCore ? [requestId] : []);
});

test("what cannot be done because the core is away", async () => {
  isAway = true;
  const response = await fetch(`${console.url}/session`, { ...signIn, headers: { ...json, ...fromPage } });
  expect(response.status).toBe(503);
  const requestId = response.headers.get("x-request-id");
  expect(lines).toEqual([{ requestId, reason: "UNSPECIFIED", status: 503, listener: "console", address: "127.0.0.1" }]);
  expect(asked).toEqual([requestId]);
});
