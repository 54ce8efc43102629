import { create, type DescMethod, type DescService, hasOption } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  createClient,
  createContextValues,
  type HandlerContext,
  type Transport,
  type UnaryRequest,
} from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Access, MemberRole, Role, role as roleOption } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { ListServersRequestSchema } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { ChatService } from "#gen/tollgate/chat/v1/chat_service_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { readDetail } from "#lib/errors/detail.ts";
import { failure } from "#lib/errors/failure.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { authenticate, createGate } from "#src/wire/interceptors/access/authenticate.ts";
import { createCallRates } from "#src/wire/interceptors/access/call-rates.ts";
import { createFailedAttempts } from "#src/wire/interceptors/access/failed-attempts.ts";
import { principalKey, readCaller, readPrincipal } from "#src/wire/interceptors/access/principal.ts";
import { readAccess, readMemberRole, readRole } from "#src/wire/interceptors/access/required-access.ts";
import type { Authenticator, Principal } from "#src/wire/principal.ts";
import { openConnect, type Route, routes } from "../../grpc/transports.ts";
import { contractServices } from "./contract-services.ts";

const nobody = () => false;
/** A key as they are made: nobody guesses one. */
const drawn = `tg-${"k".repeat(49)}`;
const unlimited = createCallRates({ signIns: 10_000, reads: 10_000 });
const payer = { kind: "caller", accountId: "acc_1", keyId: "key_1" } as const;
const caller: Principal = payer;
const operator: Principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };

/** Knows a key, the operator token and a service token, and counts what it is asked. */
class FakeAuthenticator implements Authenticator {
  asked = 0;

  async authenticate(credential: string, payingAccountId: string | undefined): Promise<Principal> {
    this.asked += 1;
    switch (credential) {
      case "key":
      case drawn:
        return caller;
      case "viewer":
        return { ...payer, memberRole: MemberRole.VIEWER };
      case "developer":
        return { ...payer, memberRole: MemberRole.DEVELOPER };
      case "person":
        return { ...payer, keyId: "", personId: "per_1", sessionId: "ses_1", memberRole: MemberRole.OWNER };
      case "homeless":
        return { ...payer, accountId: "", keyId: "", personId: "per_1", sessionId: "ses_1", memberRole: 0 };
      case "operator":
        return operator;
      case "billing":
      case "reader":
        return {
          kind: "operator",
          id: "o1",
          name: credential,
          role: credential === "billing" ? Role.BILLING : Role.READER,
        };
      case "service":
        if (payingAccountId === undefined) {
          throw failure(Reason.PERMISSION_DENIED, "Name an account.");
        }
        return { kind: "caller", accountId: payingAccountId, keyId: "" };
      case "down":
        throw failure(Reason.LEDGER_UNAVAILABLE, "Try again.");
      default:
        throw failure(Reason.UNAUTHENTICATED, "Unknown.");
    }
  }
}

/** How a call with an empty request ends. OK and UNIMPLEMENTED both mean that it got past the interceptor. */
async function codeOf(transport: Transport, method: DescMethod, headers: Record<string, string>) {
  const request = create(method.input);
  try {
    if (method.methodKind === "unary") {
      await transport.unary(method as never, undefined, undefined, headers, request as never);
    } else {
      const requests = (async function* () {
        yield request;
      })();
      const { message } = await transport.stream(method as never, undefined, undefined, headers, requests as never);
      for await (const _message of message) {
        break;
      }
    }
    return "passed";
  } catch (error) {
    const { code } = ConnectError.from(error);
    return code === Code.Unimplemented ? "passed" : Code[code];
  }
}

const reflections: readonly DescService[] = [ServerReflection, ServerReflectionAlpha];

describe.each(routes)("over %s", (_name, open) => {
  let route: Route;
  let services: DescService[];
  const authenticator = new FakeAuthenticator();
  beforeAll(async () => {
    // The gRPC server brings reflection itself, and it needs HTTP/2.
    services = (await contractServices()).filter((service) => !reflections.includes(service));
    const registrations = services.map((service) => registration(service, {}));
    route = await open(registrations, [
      authenticate(createGate(authenticator, createFailedAttempts({ points: 10_000 }), nobody, unlimited)),
    ]);
  });
  afterAll(() => route.close());

  const none = {};
  const wrong = { authorization: "Bearer wrong" };
  const malformed = { authorization: "key" };
  const key = { authorization: "Bearer key" };
  const token = { authorization: "Bearer operator" };
  const service = { authorization: "bearer service", "x-tollgate-account": "acc_2" };
  const homeless = { authorization: "Bearer service" };
  const down = { authorization: "Bearer down" };
  test.each([
    // what the method asks for: nothing, a caller, the operator, either
    ["no credential", none, "passed", "Unauthenticated", "Unauthenticated", "Unauthenticated"],
    ["a wrong credential", wrong, "passed", "Unauthenticated", "Unauthenticated", "Unauthenticated"],
    ["something else", malformed, "passed", "Unauthenticated", "Unauthenticated", "Unauthenticated"],
    ["an API key", key, "passed", "passed", "PermissionDenied", "passed"],
    ["the operator token", token, "passed", "PermissionDenied", "passed", "passed"],
    ["a service token and an account", service, "passed", "passed", "PermissionDenied", "passed"],
    ["a service token without account", homeless, "passed", "PermissionDenied", "PermissionDenied", "PermissionDenied"],
    ["a credential that cannot be checked now", down, "passed", "Unavailable", "Unavailable", "Unavailable"],
  ])("%s opens what it should of all methods", async (_what, headers, open, asCaller, asOperator, asEither) => {
    const expected = { 1: open, 2: asCaller, 3: asOperator, 4: asEither, 5: open } as Record<Access, string>;
    let checked = 0;
    for (const method of services.flatMap(({ methods }) => methods)) {
      const name = `${method.parent.typeName}/${method.name}`;
      const code = await codeOf(route.transport, method, headers);
      // Of sessions, of people and of members: no credential of these is one.
      const wanted = expected[readAccess(method)] ?? (asEither === "passed" ? "PermissionDenied" : asEither);
      expect(`${name}: ${code}`).toBe(`${name}: ${wanted}`);
      checked += 1;
    }
    expect(checked).toBeGreaterThan(25);
  });

  test.each([
    ["reader", Role.READER],
    ["billing", Role.BILLING],
    ["operator", Role.OWNER],
  ])("the token of a %s opens what its role may, of all methods of operators", async (name, role) => {
    const byOperators = services
      .flatMap(({ methods }) => methods)
      .filter((method) => [Access.OPERATOR, Access.CALLER_OR_OPERATOR].includes(readAccess(method)));
    expect(byOperators.length).toBeGreaterThan(25);
    for (const method of byOperators) {
      const code = await codeOf(route.transport, method, { authorization: `Bearer ${name}` });
      const expected = role >= readRole(method) ? "passed" : "PermissionDenied";
      expect(`${method.name}: ${code}`).toBe(`${method.name}: ${expected}`);
    }
  });

  test.each([
    ["viewer", MemberRole.VIEWER, []],
    ["developer", MemberRole.DEVELOPER, []],
    ["person", MemberRole.OWNER, [Access.PERSON, Access.SESSION]],
    ["homeless", MemberRole.UNSPECIFIED, [Access.PERSON, Access.SESSION]],
  ])("a %s opens what its role may, of all methods that are not public", async (name, role, more: Access[]) => {
    const closed = services
      .flatMap(({ methods }) => methods)
      .filter((method) => ![Access.PUBLIC, Access.PUBLIC_OR_CALLER].includes(readAccess(method)));
    for (const method of closed) {
      const least = readMemberRole(method);
      const isOpen = more.includes(readAccess(method)) || (least !== MemberRole.UNSPECIFIED && role >= least);
      const expected = isOpen ? "passed" : "PermissionDenied";
      const code = await codeOf(route.transport, method, { authorization: `Bearer ${name}` });
      expect(`${method.name}: ${code}`).toBe(`${method.name}: ${expected}`);
    }
  });

  if (open !== openConnect) {
    test("reflection asks for nothing where there is a server", async () => {
      for (const { method } of [ServerReflection, ServerReflectionAlpha]) {
        expect(await codeOf(route.transport, method.serverReflectionInfo, none)).toBe("passed");
      }
    });
  }
});

test("only health, reflection, the model list, the status and ways to sign in are public, and no method forgot to say", async () => {
  const methods = (await contractServices()).flatMap((service) => service.methods);
  const open = methods.filter((method) => [Access.PUBLIC, Access.PUBLIC_OR_CALLER].includes(readAccess(method)));
  expect(open.map(({ name, parent }) => `${parent.typeName}/${name}`).sort()).toEqual([
    "grpc.health.v1.Health/Check",
    "grpc.health.v1.Health/List",
    "grpc.health.v1.Health/Watch",
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    "tollgate.catalogue.v1.CatalogueService/GetModel",
    "tollgate.catalogue.v1.CatalogueService/ListModels",
    "tollgate.catalogue.v1.CatalogueService/ListPriceDays",
    "tollgate.sessions.v1.SessionsService/BeginMailSignIn",
    "tollgate.sessions.v1.SessionsService/BeginOidcSignIn",
    "tollgate.sessions.v1.SessionsService/BeginPasskeySignIn",
    "tollgate.sessions.v1.SessionsService/BeginPasskeySignUp",
    "tollgate.sessions.v1.SessionsService/FinishMailSignIn",
    "tollgate.sessions.v1.SessionsService/FinishOidcSignIn",
    "tollgate.sessions.v1.SessionsService/FinishPasskeySignIn",
    "tollgate.sessions.v1.SessionsService/FinishPasskeySignUp",
    "tollgate.sessions.v1.SessionsService/GetSignInOptions",
    "tollgate.sessions.v1.SessionsService/RedeemSignInLink",
    "tollgate.status.v1.StatusService/GetPublicHistory",
    "tollgate.status.v1.StatusService/GetPublicStatus",
  ]);
  expect(methods.filter((method) => readAccess(method) === Access.UNSPECIFIED)).toEqual([]);
});

/** Names of methods that change nothing but whether somebody is signed in. */
const readsOrSignsIn =
  /^((Get|List|Stream|Identify|Find|Watch|Reconcile)|CreateSignInLink$|CreateSession$|EndSession$)/;

test("every method of operators says its least role, and one that reads is a reader's", async () => {
  const methods = (await contractServices()).flatMap((service) => service.methods);
  const byOperators = methods.filter((method) =>
    [Access.OPERATOR, Access.CALLER_OR_OPERATOR].includes(readAccess(method)),
  );
  const silent = methods.filter((method) => byOperators.includes(method) !== hasOption(method, roleOption));
  expect(silent.map(({ name }) => name)).toEqual([]);
  const wrong = byOperators.filter((method) => readsOrSignsIn.test(method.name) !== (readRole(method) === Role.READER));
  expect(wrong.map(({ name }) => name)).toEqual([]);
});

test("of all methods, those of prices, servers and operators are the owner's", async () => {
  const methods = (await contractServices()).flatMap((service) => service.methods);
  const owned = methods.filter((method) => readAccess(method) === Access.OPERATOR && readRole(method) === Role.OWNER);
  expect(owned.map(({ name }) => name).sort()).toEqual([
    "CreateOperator",
    "CreateWebhook",
    "DeleteWebhook",
    "DrainServer",
    "EndSessions",
    "PauseWebhook",
    "PinPrice",
    "Redeliver",
    "Reload",
    "ResumeServer",
    "ResumeWebhook",
    "RevokeOperator",
    "RotateWebhookSecret",
    "SendTestEvent",
    "SetPrice",
    "UnpinPrice",
  ]);
});

test("developers change keys, owners money and people, and what runs or counts requests has no member's role", async () => {
  const methods = (await contractServices()).flatMap((service) => service.methods);
  const namesOf = (role: MemberRole) =>
    methods.filter((method) => readMemberRole(method) === role).map(({ name }) => name);
  expect(namesOf(MemberRole.DEVELOPER).sort()).toEqual([
    ...["CreateKey", "CreateSessionKey", "RevokeKey", "RotateKey", "UpdateKey"],
  ]);
  expect(namesOf(MemberRole.OWNER).sort()).toEqual([
    ...["CloseAccount", "CreateCheckout", "CreateInvitation", "CreatePortalSession", "ListAuditEvents", "ListInvoices"],
    ...["RefundPayment", "RemoveMember", "RevokeInvitation", "SetAutoTopUp", "SetMemberRole", "UpdateAccount"],
  ]);
  const reading = methods.filter((method) => readMemberRole(method) === MemberRole.VIEWER);
  expect(reading.filter(({ name }) => !/^(Get|List|Stream|Identify|Find)/.test(name))).toEqual([]);
});

test("what a key reads of its account, and is no request, a person with a place in the account reads, too", async () => {
  const methods = (await contractServices()).flatMap((service) => service.methods);
  const ofKeys = methods.filter(
    (method) => readAccess(method) === Access.CALLER_OR_OPERATOR && readRole(method) === Role.READER,
  );
  const closed = ofKeys.filter((method) => readMemberRole(method) === MemberRole.UNSPECIFIED);
  expect(closed.map(({ name }) => name)).toEqual(["CreateSession"]);
});

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
  const interceptor = authenticate(createGate(new FakeAuthenticator(), createFailedAttempts({ points: 1 }), nobody));

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

describe("principals", () => {
  const context = (principal?: Principal) => ({ values: createContextValues().set(principalKey, principal) });

  test("are what the interceptor found", () => {
    expect(readPrincipal(context(operator))).toBe(operator);
    expect(readCaller(context(caller))).toBe(caller);
  });

  test.each([
    ["nobody", () => readPrincipal(context())],
    ["nobody who pays", () => readCaller(context())],
    ["the operator, who does not pay", () => readCaller(context(operator))],
  ])("that are %s are PERMISSION_DENIED", (_what, ask) => {
    expect(ask).toThrow(expect.objectContaining({ code: Code.PermissionDenied }));
  });
});
