import { Code, createClient } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Logger } from "#lib/logger.ts";
import { requestIdKey } from "#src/wire/grpc/call-id.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { hideErrors } from "#src/wire/interceptors/errors.ts";
import { logCalls } from "#src/wire/interceptors/observation/log.ts";
import { observeCalls } from "#src/wire/interceptors/observation/observe.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { ScriptedService, texts, untilAborted } from "../../grpc/scripted-service.ts";
import { type Route, routes } from "../../grpc/transports.ts";

class Lines implements Logger {
  readonly lines: object[] = [];
  readonly debug = this.#write("debug");
  readonly info = this.#write("info");
  readonly warn = this.#write("warn");
  readonly error = this.#write("error");

  #write(level: string) {
    return (fields: object, message: string) => {
      this.lines.push({ level, message, ...fields });
    };
  }
}

const opened: Route[] = [];
afterEach(async () => {
  for (const route of opened.splice(0)) {
    await route.close();
  }
});

describe.each(routes)("over %s", (name, open) => {
  async function start(script: ConstructorParameters<typeof ScriptedService>[0]) {
    const log = new Lines();
    const clock = new ManualClock();
    const service = new ScriptedService(script);
    const interceptors = [observeCalls(clock, [logCalls(log, clock)]), hideErrors(new Lines(), () => undefined)];
    const route = await open([registration(InferenceService, service)], interceptors);
    opened.push(route);
    return { log, clock, service, client: createClient(InferenceService, route.transport) };
  }

  test("an answered call is one line, without what was said", async () => {
    const { log, clock, client } = await start({
      countTokens({ values }) {
        values.set(requestIdKey, "req_1");
        clock.advance(12.34);
        return 1;
      },
    });
    await client.countTokens({ model: "confidential" }, { headers: { authorization: "Bearer secret" } });
    expect(log.lines).toEqual([
      {
        level: "info",
        message: "call",
        method: "tollgate.inference.v1.InferenceService/CountTokens",
        requestId: "req_1",
        code: "OK",
        ms: 12.3,
      },
    ]);
  });

  test("a refused request has the id that its caller gave it, although nobody has read it", async () => {
    const { log, client } = await start({
      // biome-ignore lint/correctness/useYield: it is refused before it begins.
      async *generate() {
        throw failure(Reason.ACCOUNT_FROZEN, "The account is frozen.");
      },
    });
    await expect(client.generate({ requestId: "mine_1" })[Symbol.asyncIterator]().next()).rejects.toThrow("frozen");
    await eventually("it is logged", () => log.lines.length > 0);
    // Connect's own server hands a stream on before its message has come.
    const told = name.includes("to the Connect server") ? {} : { requestId: "mine_1" };
    expect(log.lines).toMatchObject([{ ...told, reason: "ACCOUNT_FROZEN" }]);
  });

  test("a stream is one line, when it is over", async () => {
    const release = Promise.withResolvers<void>();
    const { log, clock, client } = await start({
      async *generate() {
        yield* texts(["a"]);
        await release.promise;
        yield* texts(["b"]);
      },
    });
    const started = clock.monotonic();
    for await (const _message of client.generate({})) {
      if (clock.monotonic() === started) {
        expect(log.lines).toEqual([]);
      }
      clock.advance(5);
      release.resolve();
    }
    expect(log.lines).toMatchObject([{ method: "tollgate.inference.v1.InferenceService/Generate", code: "OK" }]);
  });

  test.each([
    [
      "a refusal",
      () => failure(Reason.RATE_LIMITED, "Slow down."),
      { level: "info", code: "ResourceExhausted", reason: "RATE_LIMITED" },
    ],
    [
      "a broken engine",
      () => failure(Reason.ENGINE_FAILED, "It broke."),
      { level: "warn", code: "Unavailable", reason: "ENGINE_FAILED" },
    ],
    ["a bug", () => new TypeError("undefined"), { level: "error", code: "Internal" }],
  ])("%s is one line with its code and reason", async (_what, error, line) => {
    const { log, client } = await start({
      countTokens() {
        throw error();
      },
      async *generate() {
        yield* texts(["a"]);
        throw error();
      },
    });
    await client.countTokens({}).catch(() => {});
    const stream = async () => {
      for await (const _message of client.generate({})) {
      }
    };
    await stream().catch(() => {});
    expect(log.lines).toMatchObject([line, line]);
  });

  test("a stream that is refused at once is one line", async () => {
    const { log, client } = await start({
      // biome-ignore lint/correctness/useYield: it is refused before the first message
      async *generate() {
        throw failure(Reason.MODEL_NOT_FOUND, "No such model.");
      },
    });
    const stream = async () => {
      for await (const _message of client.generate({})) {
      }
    };
    await stream().catch(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    expect(log.lines).toMatchObject([{ code: "NotFound", reason: "MODEL_NOT_FOUND" }]);
  });

  test("a call that its caller gave up is one line", async () => {
    const { log, service, client } = await start({
      async *generate(context) {
        yield* texts(["a"]);
        await untilAborted(context);
      },
    });
    const cancel = new AbortController();
    const read = async () => {
      for await (const _message of client.generate({}, { signal: cancel.signal })) {
        cancel.abort();
      }
    };
    await read().catch(() => {});
    await service.finished;
    await eventually("a line", () => log.lines.length > 0);
    expect(log.lines).toMatchObject([{ code: "Canceled" }]);
  });
});

describe("calls with wrong credentials", () => {
  function observe(reasons: readonly Reason[]) {
    const log = new Lines();
    const clock = new ManualClock();
    const observer = logCalls(log, clock);
    const method = InferenceService.method.countTokens;
    for (const reason of reasons) {
      observer({
        method,
        requestId: "",
        runId: "",
        code: Code.Unauthenticated,
        reason,
        limit: undefined,
        model: "",
        refusedStatus: 0,
        caller: undefined,
        isKeyless: true,
        surface: "grpc",
        server: "",
        ms: 1,
      });
    }
    return { log, clock };
  }

  test("calls without a credential have fifty lines in ten seconds, and then one together", () => {
    const log = new Lines();
    const clock = new ManualClock();
    const observer = logCalls(log, clock);
    const call = {
      method: InferenceService.method.countTokens,
      requestId: "",
      runId: "",
      code: undefined,
      reason: undefined,
      limit: undefined,
      model: "",
      refusedStatus: 0,
      caller: undefined,
      surface: "grpc",
      server: "",
      ms: 1,
    } as const;
    for (let times = 0; times < 1000; times += 1) {
      observer({ ...call, isKeyless: true });
    }
    observer({ ...call, isKeyless: false });
    expect(log.lines).toHaveLength(51);
    clock.advance(10_000);
    expect(log.lines.slice(51)).toEqual([
      { level: "info", message: "further calls without a credential", calls: 950, seconds: 10 },
    ]);
  });

  test("calls that are shed have fifty lines in ten seconds, and then one together; a busy model's calls have all", () => {
    const log = new Lines();
    const clock = new ManualClock();
    const observer = logCalls(log, clock);
    const call = {
      ...{ method: InferenceService.method.countTokens, requestId: "", runId: "", code: Code.Unavailable },
      ...{ reason: Reason.OVERLOADED, limit: undefined, model: "", refusedStatus: 0, caller: undefined },
      ...{ surface: "grpc" as const, server: "", ms: 1 },
    };
    for (let times = 0; times < 1000; times += 1) {
      observer({ ...call, isKeyless: true });
    }
    expect(log.lines).toHaveLength(50);
    for (let times = 0; times < 60; times += 1) {
      observer({ ...call, isKeyless: false });
    }
    expect(log.lines).toHaveLength(110);
    clock.advance(10_000);
    expect(log.lines.slice(110)).toEqual([
      { level: "warn", message: "further calls refused for lack of room", calls: 950, seconds: 10 },
    ]);
  });

  test("that are throttled have no line each, and one together", () => {
    const { log, clock } = observe(Array(1000).fill(Reason.AUTHENTICATION_THROTTLED));
    expect(log.lines).toEqual([]);
    clock.advance(10_000);
    expect(log.lines).toEqual([
      { level: "warn", message: "calls with wrong credentials", unauthenticated: 0, throttled: 1000, seconds: 10 },
    ]);
    clock.advance(60_000);
    expect(log.lines).toHaveLength(1);
  });

  test("have a line each while they are few", () => {
    const { log, clock } = observe(Array(50).fill(Reason.UNAUTHENTICATED));
    clock.advance(10_000);
    expect(log.lines).toHaveLength(50);
  });

  test("from many networks are summed up too", () => {
    const { log, clock } = observe(Array(70).fill(Reason.UNAUTHENTICATED));
    expect(log.lines).toHaveLength(50);
    clock.advance(10_000);
    expect(log.lines.at(-1)).toMatchObject({ unauthenticated: 20, throttled: 0 });
  });
});
