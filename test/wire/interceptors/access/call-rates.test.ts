import { type DescMethod, getOption } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { Health } from "#gen/grpc/health/v1/health_pb.js";
import { Access, MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { RateLimitUse, rate_limit_use } from "#gen/tollgate/metering/v1/rate_limit_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { createCallRates } from "#src/wire/interceptors/access/call-rates.ts";
import { readAccess, readMemberRole } from "#src/wire/interceptors/access/required-access.ts";
import type { Principal } from "#src/wire/principal.ts";
import { ManualClock } from "../../../support/clocks/manual-clock.ts";
import { contractServices } from "./contract-services.ts";

const { createSession, redeemSignInLink } = SessionsService.method;
const { createKey, getAccount, identifyCaller, rotateKey } = AccountsService.method;
const { listModels } = CatalogueService.method;
const key = (accountId: string, rpm?: number): Principal => ({
  ...{ kind: "caller", accountId, keyId: "k" },
  ...(rpm !== undefined && { rpm }),
});
const operator: Principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };

/** How many of many calls are admitted. */
function admitted(count: (at: number) => number | undefined): number {
  return Array.from({ length: 2000 }, (_, at) => count(at)).filter((wait) => wait === undefined).length;
}

test("a key signs in 30 times a minute, from wherever, and then has to wait for the rest of it", () => {
  const clock = new ManualClock();
  const rates = createCallRates({}, clock);
  expect(admitted((at) => rates.count(createSession, key("a"), `10.0.${at % 250}.1`))).toBe(30);
  clock.advance(20_000);
  expect(rates.count(createSession, key("a"), "10.1.0.1")).toBe(40_000);
  expect(rates.count(createSession, key("b"), "10.1.0.1")).toBeUndefined();
  clock.advance(40_000);
  expect(rates.count(createSession, key("a"), "10.1.0.1")).toBeUndefined();
});

test.each([
  ["an address", 30, () => "203.0.113.1"],
  ["a /24", 120, (at: number) => `203.0.113.${at % 250}`],
  ["a /64", 30, (at: number) => `2001:db8::${at.toString(16)}`],
  ["a /56", 120, (at: number) => `2001:db8:0:${(at % 256).toString(16)}::1`],
])("%s tries %d links a minute", (_, most, address) => {
  const rates = createCallRates({}, new ManualClock());
  expect(admitted((at) => rates.count(redeemSignInLink, undefined, address(at)))).toBe(most);
  expect(rates.count(redeemSignInLink, undefined, "198.51.100.1")).toBeUndefined();
});

test("an operator signs in 30 times a minute, whoever else does from the same address, and reads as much as there is", () => {
  const rates = createCallRates({}, new ManualClock());
  expect(admitted((at) => rates.count(createSession, operator, `10.0.${at % 250}.1`))).toBe(30);
  expect(admitted(() => rates.count(getAccount, operator, "10.0.0.1"))).toBe(2000);
  expect(admitted(() => rates.count(redeemSignInLink, undefined, "10.0.0.1"))).toBe(30);
});

test("a key reads 600 times a minute, or ten times for each of its requests", () => {
  const rates = createCallRates({}, new ManualClock());
  expect(admitted(() => rates.count(getAccount, key("a"), "10.0.0.1"))).toBe(600);
  expect(admitted(() => rates.count(getAccount, key("b", 120), "10.0.0.1"))).toBe(1200);
});

test("strangers read 600 times a minute from an address", () => {
  const rates = createCallRates({}, new ManualClock());
  expect(admitted(() => rates.count(listModels, undefined, "203.0.113.1"))).toBe(600);
  expect(rates.count(listModels, undefined, "203.0.113.2")).toBeUndefined();
});

test("requests, which are counted elsewhere, probes and the process itself are not counted", () => {
  const rates = createCallRates({}, new ManualClock());
  expect(admitted(() => rates.count(InferenceService.method.generate, key("a"), "10.0.0.1"))).toBe(2000);
  expect(admitted(() => rates.count(identifyCaller, key("a"), "10.0.0.1"))).toBe(2000);
  expect(admitted(() => rates.count(Health.method.check, undefined, "10.0.0.1"))).toBe(2000);
  expect(admitted(() => rates.count(listModels, undefined, undefined))).toBe(2000);
});

test("an account's management keys make 120 changes a minute, apart from its reads; operators as many as they like", () => {
  const rates = createCallRates({}, new ManualClock());
  const manager = (keyId: string): Principal => ({
    ...{ kind: "caller", accountId: "a", keyId, memberRole: MemberRole.DEVELOPER },
  });
  const change = (at: number) =>
    rates.count(at % 2 === 0 ? createKey : rotateKey, manager(`k${at % 3}`), `10.0.${at % 250}.1`);
  expect(admitted(change)).toBe(120);
  expect(rates.count(getAccount, manager("k1"), "10.0.0.1")).toBeUndefined();
  expect(admitted(() => rates.count(createKey, operator, "10.0.0.1"))).toBe(2000);
});

const owner: Principal = { kind: "caller", accountId: "a", keyId: "", personId: "p", memberRole: MemberRole.OWNER };

/** Who but operators may call a method. Undefined: a stranger. */
function admittedBy(method: DescMethod): (Principal | undefined)[] {
  const members = readMemberRole(method) === MemberRole.UNSPECIFIED ? [] : [owner];
  switch (readAccess(method)) {
    case Access.PUBLIC:
      return [undefined];
    case Access.PUBLIC_OR_CALLER:
      return [undefined, key("a")];
    case Access.CALLER:
    case Access.CALLER_OR_OPERATOR:
      return [key("a"), ...members];
    case Access.MEMBER:
    case Access.PERSON:
    case Access.ANY_PERSON:
    case Access.SESSION:
      return [owner];
    default:
      return members;
  }
}

const nameOf = ({ name, parent }: DescMethod) => `${parent.typeName}/${name}`;

/** Whose requests the rate of their key counts, whose place the request itself takes, and what a prober asks. */
const countedElsewhere = (method: DescMethod) =>
  [RateLimitUse.RUN, RateLimitUse.COUNT].includes(getOption(method, rate_limit_use)) ||
  method === identifyCaller ||
  method.parent === Health;

test("every method of the contract has a rate for everybody whom it admits but operators", async () => {
  const methods = (await contractServices()).flatMap((service) => service.methods);
  const free = methods.filter((method) => {
    const limits = { signIns: 1, reads: 1, changes: 1 };
    return admittedBy(method).some((principal) => {
      const rates = createCallRates(limits, new ManualClock());
      return [0, 1].map(() => rates.count(method, principal, "203.0.113.1")).at(-1) === undefined;
    });
  });
  expect(free.filter((method) => !countedElsewhere(method)).map(nameOf)).toEqual([]);
});

test("what counts as a read reads, by its name", async () => {
  const methods = (await contractServices()).flatMap((service) => service.methods);
  const isRead = (method: DescMethod) => {
    const rates = createCallRates({ signIns: 9, reads: 1, changes: 9 }, new ManualClock());
    return admittedBy(method).some((principal) =>
      [0, 1].some(() => rates.count(method, principal, "203.0.113.1") !== undefined),
    );
  };
  const reads = /^(Get|List|Stream|Find|Watch|CountTokens|ServerReflectionInfo)/;
  expect(methods.filter((method) => isRead(method) && !reads.test(method.name)).map(nameOf)).toEqual([]);
});

test("a person changes itself, and a session ends, as often as anything is changed", () => {
  const { removePasskey, updatePerson } = PeopleService.method;
  for (const method of [updatePerson, removePasskey, SessionsService.method.endSession]) {
    const rates = createCallRates({}, new ManualClock());
    expect(admitted((at) => rates.count(method, owner, `10.0.${at % 250}.1`))).toBe(120);
  }
});
