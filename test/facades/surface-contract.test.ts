import { once } from "node:events";
import { Code, type ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { type PublicSurface, publicSurfaces } from "#lib/inference/surface-names.ts";
import { withRateLimit } from "#lib/rpc/rate-limit.ts";
import { createCoreClients } from "../../facades/http/core/core-clients.ts";
import { chooseSurface } from "../../facades/http/routing/choose-surface.ts";
import { createSurfaces } from "../../facades/surfaces.ts";
import { chatSample } from "./chat/sample.ts";
import { startFront } from "./http/front-server.ts";
import { RawClient } from "./http/raw-client.ts";
import { answer, refused, type Script, scriptedCore, started } from "./http/scripted-core.ts";
import { messagesSample } from "./messages/sample.ts";
import type { Refusal, SurfaceSample } from "./surface-sample.ts";

// What holds on every surface, whatever its words: one list, one contract.

const samples: Readonly<Record<PublicSurface, SurfaceSample>> = { chat: chatSample, messages: messagesSample };
const surfaces = createSurfaces(createCoreClients(scriptedCore().transport), () => ({}));
const listed = surfaces.map((surface) => ({ ...surface, sample: samples[surface.name] }));

test("every surface has a name of its own, and owns its own endpoints whoever asks", () => {
  expect(surfaces.map(({ name }) => name).toSorted()).toEqual(publicSurfaces.toSorted());
  for (const { name, endpoints } of listed) {
    const own = endpoints.filter(
      ({ path, verb }) => !listed.some((other) => other.name !== name && isAmong(other.endpoints, verb, path)),
    );
    expect(own).not.toEqual([]);
    for (const { path } of own) {
      for (const { sample } of listed) {
        expect(chooseSurface(surfaces, { url: path, ...sample }).name).toBe(name);
      }
    }
  }
});

const isAmong = (endpoints: readonly { verb: string; path: string }[], verb: string, path: string) =>
  endpoints.some((endpoint) => endpoint.verb === verb && endpoint.path === path);

describe.each(listed)("the surface $name", ({ name, claims, unavailable, sample, errorOf }) => {
  const { headers, path, refusals, readError } = sample;
  const body = JSON.stringify(sample.body);

  /** Asks a front over a core that does as the script says. Every answer carries the id of its request, twice. */
  async function ask(to: string, init: RequestInit = {}, script: Partial<Script> = {}) {
    const { transport, log } = scriptedCore(script);
    await using front = await startFront(transport);
    const sent = { method: "POST", ...init, headers: { ...headers, ...(init.headers as Record<string, string>) } };
    const response = await fetch(front.url + to, sent);
    const text = await response.text();
    expect(response.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/);
    expect(response.headers.get("request-id")).toBe(response.headers.get("x-request-id"));
    return { status: response.status, headers: response.headers, text, log };
  }

  function expectRefusal(given: { readonly status: number; readonly text: string }, refusal: Refusal): string {
    const [status, kind] = refusals[refusal];
    const told = readError(JSON.parse(given.text));
    expect({ status: given.status, kind: told.kind }).toEqual({ status, kind });
    expect(told.message).not.toBe("");
    return told.message;
  }

  test("tells the core the session that a header names", async () => {
    const { status, log } = await ask(path, { body, headers: { "x-session-id": "chat-7" } });
    expect(status).toBe(200);
    expect(log.generated).toMatchObject([{ session: "chat-7" }]);
  });

  test("knows its own clients", () => {
    expect(chooseSurface(surfaces, { url: "/nothing", ...sample }).name).toBe(name);
  });

  test.each([...claims, ""])(
    "answers an unknown path below %j in its own shape, and has the core run nothing",
    async (start) => {
      const given = await ask(`${start}/nothing/here`, { body: "not even JSON" });
      expect(expectRefusal(given, "unknown path")).toBe(`There is no endpoint POST ${start}/nothing/here.`);
      expect(given.log).toMatchObject({ generated: [], embedded: [], counted: 0 });
    },
  );

  test("says which features that its clients know are not available", async () => {
    for (const [start, feature] of Object.entries(unavailable)) {
      for (const to of [start, `${start}/some`]) {
        expect(expectRefusal(await ask(to), "unknown path")).toContain(`The ${feature} is not available`);
      }
      expect(expectRefusal(await ask(`${start}x`), "unknown path")).toMatch(/^There is no endpoint/);
    }
  });

  test.each(["GET", "PUT", "DELETE", "OPTIONS"])("refuses %s and tells the method, without CORS", async (method) => {
    const given = await ask(path, { method, headers: { origin: "https://example.com" } });
    expect(given.headers.get("allow")).toBe("POST");
    expect([...given.headers.keys()].filter((header) => header.startsWith("access-control-"))).toEqual([]);
    expectRefusal(given, "wrong method");
  });

  test("answers bytes that are no request in its own shape", async () => {
    await using front = await startFront(scriptedCore().transport);
    const client = new RawClient(front.url);
    const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
    client.socket.write(`POST ${path} HTTP/1.1\r\nhost: t\r\n${lines.join("")}not a header\r\n\r\n`);
    await client.closed();
    const [, status = "", text = ""] = /^HTTP\/1\.1 (\d+) .*?\r\n\r\n(.*)$/s.exec(client.received) ?? [];
    expect(client.received).toMatch(/\r\nx-request-id: req_[0-9a-f]{32}\r\n/);
    expectRefusal({ status: Number(status), text }, "malformed");
  });

  test("refuses what is too large before it asks for the key", async () => {
    const given = await ask(path, { body: " ".repeat(2 * 1024 * 1024 + 1) });
    expectRefusal(given, "too large");
    // The core is told afterwards, for the record.
    expect(given.log).toMatchObject({ counted: 0, generated: [] });
  });

  test.each<[Refusal, RequestInit]>([
    ["bad JSON", { body: "{" }],
    ["bad JSON", { body: "" }],
    ["unsupported media", { body, headers: { "content-type": "multipart/form-data; boundary=x" } }],
  ])("counts a request that it refuses for its body: %s", async (refusal, init) => {
    const given = await ask(path, init);
    expectRefusal(given, refusal);
    expect(given.log).toMatchObject({ counted: 1, generated: [] });
    expect(given.headers.get("x-ratelimit-remaining-requests")).toBe("59");
    expect(given.headers.get("anthropic-ratelimit-requests-remaining")).toBe("59");
  });

  const usedUp = { limit: 60, remaining: 0, resetAfterMs: 7001 };
  test.each<[Refusal, ConnectError, Record<string, string | null>]>([
    ["no key", refused(Reason.UNAUTHENTICATED, "Who?", Code.Unauthenticated), { "x-should-retry": "false" }],
    ["model not found", refused(Reason.MODEL_NOT_FOUND, "No model.", Code.NotFound), {}],
    [
      "rate-limited",
      withRateLimit(
        refused(Reason.RATE_LIMITED, "Slow down.", Code.ResourceExhausted, { retryAfter: { seconds: 7n, nanos: 1 } }),
        usedUp,
      ),
      {
        "retry-after": "8",
        "x-should-retry": null,
        "x-ratelimit-limit-requests": "60",
        "x-ratelimit-remaining-requests": "0",
        "anthropic-ratelimit-requests-limit": "60",
        "anthropic-ratelimit-requests-remaining": "0",
      },
    ],
    ["exhausted", refused(Reason.BALANCE_EXHAUSTED, "Empty.", Code.ResourceExhausted), { "retry-after": null }],
    ["overloaded", refused(Reason.OVERLOADED, "Busy.", Code.Unavailable), { "retry-after": "1" }],
    ["shutting down", refused(Reason.SHUTTING_DOWN, "Going.", Code.Unavailable), { "retry-after": "1" }],
  ])("%s: the core's refusal in its own words, streamed or not", async (refusal, error, expected) => {
    for (const stream of [false, true]) {
      const given = await ask(path, { body: JSON.stringify({ ...sample.body, stream }) }, { refuse: () => error });
      expectRefusal(given, refusal);
      expect(given.headers.get("content-type")).toBe("application/json");
      for (const [header, value] of Object.entries(expected)) {
        expect(given.headers.get(header)).toBe(value);
      }
    }
  });

  test("answers every reason of the core with an error of its own", () => {
    for (const reason of Object.values(Reason).filter((value) => typeof value === "number")) {
      const { status, body: text } = errorOf(refused(reason, "Why.", Code.Unknown), `req_${"0".repeat(32)}`);
      expect(status).toBeGreaterThanOrEqual(400);
      expect(readError(JSON.parse(text)).message).not.toBe("");
    }
  });

  test("says nothing of an unexpected error, before the head and after it", async () => {
    const broken = (events: Parameters<typeof answer>[0] | undefined): Partial<Script> => ({
      async *generate() {
        if (events !== undefined) {
          yield { events: [started(), { event: { case: "text", value: events } }] };
        }
        throw new Error("secret");
      },
    });
    const early = await ask(path, { body }, broken(undefined));
    expect(early.status).toBe(500);
    const late = await ask(path, { body: JSON.stringify({ ...sample.body, stream: true }) }, broken("Hel"));
    expect(late.status).toBe(200);
    for (const { text } of [early, late]) {
      expect(text).not.toContain("secret");
    }
  });

  test("streams by the grammar of its events", async () => {
    const given = await ask(path, { body: JSON.stringify({ ...sample.body, stream: true }) });
    expect(given.status).toBe(200);
    expect(Object.fromEntries(given.headers)).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "x-ratelimit-remaining-requests": "59",
    });
    expect(sample.readStream(given.text)).toBe("Hello");
  });

  test.each([false, true])("ends the core's work when the client has left, streamed: %s", async (stream) => {
    const running = Promise.withResolvers<AbortSignal>();
    const { transport } = scriptedCore({
      async *generate(_request, { signal }) {
        yield { events: answer("Hello").slice(0, 2) };
        running.resolve(signal);
        if (!signal.aborted) {
          await once(signal, "abort");
        }
      },
    });
    await using front = await startFront(transport);
    const leaving = new AbortController();
    const sent = JSON.stringify({ ...sample.body, stream });
    const asked = fetch(front.url + path, { method: "POST", headers, body: sent, signal: leaving.signal });
    const read = asked.then((response) => response.text());
    const signal = await running.promise;
    leaving.abort();
    await expect(read).rejects.toThrow("aborted");
    if (!signal.aborted) {
      await once(signal, "abort");
    }
    expect(front.errors).toEqual([]);
  });
});
