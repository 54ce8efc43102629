import { globSync } from "node:fs";
import { create, type DescField, type DescMessage, type DescService } from "@bufbuild/protobuf";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { expect, test } from "@jest/globals";
import { Access, MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import type { NewAuditEvent } from "#src/identity/audit/audit-trail.ts";
import { recordChanges } from "#src/identity/audit/record-changes.ts";
import { createDirectTransport } from "#src/wire/grpc/direct/direct-transport.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { principalKey } from "#src/wire/interceptors/access/principal.ts";
import { readAccess, readRole } from "#src/wire/interceptors/access/required-access.ts";
import { noteWithin } from "#src/wire/interceptors/changes/change.ts";
import { isSecret } from "#src/wire/interceptors/changes/public-json.ts";
import type { Principal } from "#src/wire/principal.ts";

const operator = { kind: "operator", id: "o1", name: "Ada", role: Role.OWNER } as const;

async function services(): Promise<DescService[]> {
  const found: DescService[] = [];
  for (const file of globSync("gen/tollgate/**/*_pb.js")) {
    const module: Record<string, { kind?: string }> = await import(`../../../${file}`);
    found.push(...(Object.values(module).filter(({ kind }) => kind === "service") as DescService[]));
  }
  return found;
}

function fieldsOf(message: DescMessage, seen = new Set<DescMessage>()): DescField[] {
  if (seen.has(message)) {
    return [];
  }
  seen.add(message);
  return message.fields.flatMap((field) => [field, ...(field.message ? fieldsOf(field.message, seen) : [])]);
}

function setUp(fail = false) {
  const noted: NewAuditEvent[] = [];
  const errors: object[] = [];
  let lost = 0;
  const add = async (event: NewAuditEvent) => {
    if (fail) {
      throw new Error("no database");
    }
    noted.push(event);
  };
  const quiet = () => {};
  const logger = { debug: quiet, info: quiet, warn: quiet, error: (facts: object) => void errors.push(facts) };
  const record = recordChanges({
    trail: { add, addWithin: (_, event) => add(event) },
    trusts: () => true,
    logger,
    lost: () => {
      lost += 1;
    },
  });
  const as =
    (principal: Principal): Interceptor =>
    (next) =>
    (request) => {
      request.contextValues.set(principalKey, principal);
      return next(request);
    };
  return { noted, errors, record, as, lost: () => lost };
}

test("every method that changes something is noted once, and none that reads", async () => {
  const { noted, record, as } = setUp();
  const expected: string[] = [];
  for (const service of await services()) {
    const answers = Object.fromEntries(
      service.methods.map((method) => [method.localName, () => create(method.output)]),
    );
    const transport = createDirectTransport([registration(service, answers as never)], [as(operator), record]);
    for (const method of service.methods.filter(({ methodKind }) => methodKind === "unary")) {
      await transport.unary(method as never, undefined, undefined, {}, create(method.input) as never);
      const isForOperators = [Access.OPERATOR, Access.CALLER_OR_OPERATOR].includes(readAccess(method));
      const isOfPerson = [
        "UpdatePerson",
        "AcceptInvitation",
        "LeaveAccount",
        "FinishPasskey",
        "RemovePasskey",
      ].includes(method.name);
      if (isOfPerson || (isForOperators && readRole(method) > Role.READER)) {
        expected.push(`${service.typeName}/${method.name}`);
      }
    }
  }
  expect(expected.length).toBeGreaterThan(17);
  expect(noted.map(({ method }) => method).sort()).toEqual(expected.sort());
  expect(expected).not.toContain("tollgate.catalogue.v1.CatalogueService/ListModels");
});

test("of what only owners and developers of an account may call, what reads alone is not noted", async () => {
  const { noted, record, as } = setUp();
  const owner = { kind: "caller", accountId: "a", keyId: "", personId: "p", memberRole: MemberRole.OWNER } as const;
  for (const service of await services()) {
    const answers = Object.fromEntries(
      service.methods.map((method) => [method.localName, () => create(method.output)]),
    );
    const transport = createDirectTransport([registration(service, answers as never)], [as(owner), record]);
    for (const method of service.methods.filter(({ methodKind }) => methodKind === "unary")) {
      await transport.unary(method as never, undefined, undefined, {}, create(method.input) as never);
    }
  }
  const names = noted.map(({ method }) => method.split("/")[1] ?? "");
  expect(names).toEqual(expect.arrayContaining(["CreateKey", "SetMemberRole", "CreateCheckout", "CloseAccount"]));
  expect(names.filter((name) => /^(List|Get|Find|Count)/.test(name))).toEqual([]);
});

test("no field that carries a secret reaches the log", async () => {
  const marked: string[] = [];
  const bare: string[] = [];
  for (const service of await services()) {
    for (const method of service.methods.filter((method) => readAccess(method) >= 3)) {
      for (const field of [...fieldsOf(method.input), ...fieldsOf(method.output)]) {
        if (/^(secret|token|credential)$|_secret$/.test(field.name)) {
          (isSecret(field) ? marked : bare).push(`${field.parent.name}.${field.name}`);
        }
      }
    }
  }
  expect(bare).toEqual([]);
  expect(new Set(marked)).toEqual(
    new Set([...marked, "CreateKeyResponse.secret", "RotateKeyResponse.secret", "CreateOperatorResponse.token"]),
  );
});

test("a call is noted with who, what and from where; the secret that it answered is not", async () => {
  const { noted, record, as } = setUp();
  const service = registration(AccountsService, {
    createKey: () => ({ key: { id: "k1", accountId: "a1", name: "laptop" }, secret: "tg-hidden" }),
  });
  const client = createClient(AccountsService, createDirectTransport([service], [as(operator), record]));
  await client.createKey(
    { accountId: "a1", name: "laptop" },
    { headers: { "x-tollgate-client-address": "192.0.2.7" } },
  );
  expect(noted).toEqual([
    {
      operator: "Ada",
      operatorId: "o1",
      keyId: null,
      personId: null,
      method: "tollgate.accounts.v1.AccountsService/CreateKey",
      target: "k1",
      address: "192.0.2.7",
      before: undefined,
      after: { account_id: "a1", name: "laptop", key: { id: "k1", account_id: "a1", name: "laptop" } },
    },
  ]);
});

test("callers and failed calls are not noted; a change noted by its own transaction is not noted again", async () => {
  const { noted, record, as } = setUp();
  const service = registration(AccountsService, {
    createKey: () => Promise.reject(new Error("refused")),
    revokeKey: () => ({}),
    topUp: (_, context) =>
      noteWithin(context, async (note) => {
        await note({} as never, { target: "a1", after: { lot_id: "l1" } });
        return { lotId: "l1" };
      }),
    grant: (_, context) => noteWithin(context, async () => ({ lotId: "l1" })), // made before: nothing changes
  });
  const client = createClient(AccountsService, createDirectTransport([service], [as(operator), record]));
  await client.createKey({}).catch(() => {});
  await client.topUp({ accountId: "a1", reference: "r" });
  await client.grant({ accountId: "a1", reference: "r" });
  const caller = { kind: "caller", accountId: "a1", keyId: "k1" } as const;
  await createClient(AccountsService, createDirectTransport([service], [as(caller), record])).revokeKey({});
  expect(noted).toMatchObject([{ target: "a1", after: { account_id: "a1", reference: "r", lot_id: "l1" } }]);
});

test("a change that cannot be noted is answered, counted and told in the log", async () => {
  const { errors, record, as, lost } = setUp(true);
  const service = registration(AccountsService, { revokeKey: () => ({ key: { id: "k1" } }) });
  const client = createClient(AccountsService, createDirectTransport([service], [as(operator), record]));
  expect((await client.revokeKey({ keyId: "k1" })).key?.id).toBe("k1");
  expect(lost()).toBe(1);
  expect(errors).toMatchObject([{ event: { operator: "Ada", target: "k1" } }]);
});

test("a member's changes are noted by its key, and neither its reads nor another caller's calls", async () => {
  const { noted, record, as } = setUp();
  const service = registration(AccountsService, { createKey: () => ({ key: { id: "k2" } }), listKeys: () => ({}) });
  const caller = { kind: "caller", accountId: "a1", keyId: "k1" } as const;
  for (const principal of [caller, { ...caller, memberRole: MemberRole.DEVELOPER }]) {
    const client = createClient(AccountsService, createDirectTransport([service], [as(principal), record]));
    await client.createKey({});
    await client.listKeys({});
  }
  expect(noted).toMatchObject([{ operator: "key k1", operatorId: null, keyId: "k1", target: "k2" }]);
});
