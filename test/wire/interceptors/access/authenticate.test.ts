import { create } from "@bufbuild/protobuf";
import { createClient, createContextValues, type HandlerContext, type UnaryRequest } from "@connectrpc/connect";
import { afterEach, describe, expect, test } from "@jest/globals";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService, ListServersRequestSchema } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { ChatService } from "#gen/tollgate/chat/v1/chat_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { authenticate, createGate } from "#src/wire/interceptors/access/authenticate.ts";
import { createCallRates } from "#src/wire/interceptors/access/call-rates.ts";
import { createFailedAttempts } from "#src/wire/interceptors/access/failed-attempts.ts";
import { principalKey, readCaller, readPrincipal } from "#src/wire/interceptors/access/principal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { type Route, routes } from "../../grpc/transports.ts";
import { caller, codeOf, drawn, FakeAuthenticator } from "./fake-authenticator.ts";

const opened: Route[] = [];
afterEach(async () => {
  for (const route of opened.splice(0)) {
    await route.close();
  }
});

describe.each(routes)("over %s", (_name, open) => {
  async function start(limit = 3) {
    const authenticator = new FakeAuthenticator();
    const contexts: HandlerContext[] = [];
    const services = [
      registration(InferenceService, {
        countTokens(_request, context) {
          contexts.push(context);
          return {};
        },
      }),
      registration(ChatService, {}),
      registration(AccountsService, {}),
    ];
    const route = await open(services, [
      authenticate(createGate(authenticator, createFailedAttempts({ points: limit }), () => true)),
    ]);
    opened.push(route);
    const client = createClient(InferenceService, route.transport);
    const call = (headers: Record<string, string>) =>
      client.countTokens({}, { headers }).then(
        () => "passed",
        (error: unknown) => Reason[readDetail(error)?.reason ?? Reason.UNSPECIFIED],
      );
    return { authenticator, contexts, call, ...route };
  }

  test("the handler learns who calls, from one question", async () => {
    const { authenticator, contexts, call } = await start();
    await call({ authorization: "Bearer key" });
    await call({ authorization: "Bearer service", "x-tollgate-account": "acc_2" });
    expect(contexts.map(readCaller)).toEqual([caller, { kind: "caller", accountId: "acc_2", keyId: "" }]);
    expect(contexts.map(readPrincipal)).toEqual(contexts.map(readCaller));
    expect(authenticator.asked).toBe(2);
  });

  test("a method that does not say who may call it is closed to everybody", async () => {
    const { transport } = await start();
    const { createChatCompletion } = ChatService.method;
    for (const authorization of ["Bearer key", "Bearer operator"]) {
      expect(await codeOf(transport, createChatCompletion, { authorization })).toBe("PermissionDenied");
    }
  });

  test("wrong credentials of one address are throttled, right keys never, and chosen tokens are not tried", async () => {
    const { call, authenticator } = await start(2);
    const from = { "x-tollgate-client-address": "203.0.113.7" };
    const wrong = { authorization: "Bearer wrong" };
    for (let attempt = 0; attempt < 10; attempt += 1) {
      await call(from); // no credential is no guess
    }
    expect(await call({ ...wrong, ...from })).toBe("UNAUTHENTICATED");
    expect(await call({ ...wrong, ...from })).toBe("UNAUTHENTICATED");
    expect(await call({ ...wrong, ...from })).toBe("AUTHENTICATION_THROTTLED");
    expect(await call({ authorization: `Bearer ${drawn}`, ...from })).toBe("passed");
    const { asked } = authenticator;
    expect(await call({ authorization: "Bearer key", ...from })).toBe("AUTHENTICATION_THROTTLED");
    expect(authenticator.asked).toBe(asked);
    expect(await call({ ...wrong, "x-tollgate-client-address": "203.0.113.8" })).toBe("UNAUTHENTICATED");
    expect(await call({ authorization: "Bearer down" })).toBe("LEDGER_UNAVAILABLE");
  });
});

describe("a throttled address", () => {
  const interceptor = authenticate(
    createGate(new FakeAuthenticator(), createFailedAttempts({ points: 1 }), () => false),
  );

  function attempt() {
    const header = new Headers({ authorization: "Bearer wrong" });
    const method = InferenceService.method.countTokens;
    const message = create(ListServersRequestSchema);
    const contextValues = createContextValues();
    const request = { stream: false, method, message, header, contextValues } as unknown as UnaryRequest;
    return interceptor(() => Promise.reject(new Error("not reached")))(request).catch((error: unknown) => error);
  }

  test("is told how long to wait", async () => {
    await attempt();
    const detail = readDetail(await attempt());
    expect(detail?.reason).toBe(Reason.AUTHENTICATION_THROTTLED);
    expect(Number(detail?.retryAfter?.seconds)).toBeGreaterThanOrEqual(50);
  });
});

describe("a method for anybody that knows callers", () => {
  function start(limit: number) {
    const authenticator = new FakeAuthenticator();
    const refused: string[] = [];
    const gate = createGate(
      authenticator,
      createFailedAttempts({ points: limit }),
      () => true,
      createCallRates({ reads: 4 }),
      (_listener, bound) => void refused.push(bound),
    );
    /** Whom a call was admitted as, or why it was not. */
    const list = async (authorization: string, address = "203.0.113.7") => {
      const header = new Headers({ authorization, "x-tollgate-client-address": address });
      const head = { method: CatalogueService.method.listModels, header, contextValues: createContextValues() };
      try {
        await gate.admit(head);
        return head.contextValues.get(principalKey)?.kind ?? "stranger";
      } catch (error) {
        return Reason[readDetail(error)?.reason ?? Reason.UNSPECIFIED];
      }
    };
    return { authenticator, refused, list };
  }

  test("compares no chosen token from an address with too many wrong ones, and still answers", async () => {
    const { authenticator, refused, list } = start(2);
    for (let guess = 0; guess < 3; guess += 1) {
      expect(await list("Bearer wrong")).toBe("stranger");
    }
    const { asked } = authenticator;
    expect(await list("Bearer operator")).toBe("stranger");
    expect(authenticator.asked).toBe(asked);
    expect(refused).toEqual(["credentials", "credentials"]);
    expect(await list("Bearer operator")).toBe("RATE_LIMITED"); // as any wrong one
    expect(await list(`Bearer ${drawn}`)).toBe("caller");
    expect(await list("Bearer key", "203.0.113.8")).toBe("caller");
  });

  test("takes nobody for a guesser who sends no credential, or when none can be checked", async () => {
    const { list } = start(1);
    expect(await list("key")).toBe("stranger");
    expect(await list("Bearer down")).toBe("stranger");
    expect(await list("Bearer service")).toBe("stranger");
    expect(await list("Bearer key")).toBe("caller");
    expect(await list("Bearer operator")).toBe("operator");
  });
});

describe("a call whose message comes late", () => {
  test.each([
    { late: 1001, ends: "Bearer ended", expected: "UNAUTHENTICATED" },
    { late: 1000, ends: "Bearer ended", expected: "passed" },
    { late: 1001, ends: "Bearer down", expected: "passed" },
    { late: 1001, ends: "Bearer key", expected: "passed" },
  ])("is judged once more after a second: $late ms, $ends: $expected", async ({ late, ends, expected }) => {
    const clock = new ManualClock();
    const gate = createGate(
      new FakeAuthenticator(),
      createFailedAttempts({ points: 9 }),
      () => false,
      undefined,
      undefined,
      clock,
    );
    const header = new Headers({ authorization: "Bearer key" });
    const head = { method: InferenceService.method.countTokens, header, contextValues: createContextValues() };
    await gate.admit(head);
    clock.advance(late);
    header.set("authorization", ends); // as a credential is that has ended meanwhile
    const next = () => Promise.resolve("passed" as never);
    const outcome = await authenticate(
      gate,
      clock,
    )(next)(head as unknown as UnaryRequest).catch(
      (error: unknown) => Reason[readDetail(error)?.reason ?? Reason.UNSPECIFIED],
    );
    expect(outcome).toBe(expected);
  });
});
