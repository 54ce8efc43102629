import type { DescService } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { ServerReflection } from "#gen/grpc/reflection/v1/reflection_pb.js";
import { ServerReflection as ServerReflectionAlpha } from "#gen/grpc/reflection/v1alpha/reflection_pb.js";
import { Access, MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { authenticate, createGate } from "#src/wire/interceptors/access/authenticate.ts";
import { createCallRates } from "#src/wire/interceptors/access/call-rates.ts";
import { createFailedAttempts } from "#src/wire/interceptors/access/failed-attempts.ts";
import { readAccess, readMemberRole, readRole } from "#src/wire/interceptors/access/required-access.ts";
import { openConnect, type Route, routes } from "../../grpc/transports.ts";
import { contractServices } from "./contract-services.ts";
import { codeOf, FakeAuthenticator } from "./fake-authenticator.ts";

const nobody = () => false;
const unlimited = createCallRates({ signIns: 10_000, reads: 10_000 });

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
    ["person", MemberRole.OWNER, [Access.PERSON, Access.ANY_PERSON, Access.SESSION]],
    ["homeless", MemberRole.UNSPECIFIED, [Access.ANY_PERSON, Access.SESSION]],
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
