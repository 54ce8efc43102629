import { randomBytes } from "node:crypto";
import { globSync } from "node:fs";
import { create, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Access } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { InferenceService } from "#gen/tollgate/inference/v1/inference_service_pb.js";
import { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { readAccess } from "#src/wire/interceptors/access/required-access.ts";
import { type Simulator, startSimulator } from "../../simulator/server.ts";
import { databases, dialects } from "../money/databases.ts";
import { skipTime } from "../support/clocks/skip-time.ts";
import { outcomeOf } from "../support/reason-of.ts";
import { type Service, serveModels } from "../support/service.ts";

// What a key that manages its account may do, over the real wire, and everything that it may not.

const draw = () => randomBytes(32).toString("hex");
const secrets = { TOLLGATE_OPERATOR_TOKEN: draw(), TOLLGATE_KEY_PEPPER: draw() };
const newDatabase = databases();

/** What a developer of an account may call beside what is public. */
const allowed = [
  ...[
    "CreateKey",
    "GetAccount",
    "GetAccountPrices",
    "GetAutoTopUp",
    "GetCheckout",
    "GetKey",
    "GetKeyStatus",
    "GetPaymentOptions",
    "IdentifyCaller",
    "ListKeys",
    "ListPayments",
  ],
  ...["RevokeKey", "RotateKey", "UpdateKey", "GetReceipt", "ListReceipts", "StreamUsage"],
  ...["StreamStatement", "ListSeals", "ListMonths", "ListLabels", "ListCosts", "ListRequests", "FindAnything"],
  ...["ListInvitations", "ListMembers"],
].toSorted();

/** Every method that the core serves. */
async function contract(): Promise<DescMethod[]> {
  const services: DescService[] = [];
  for (const file of globSync("gen/tollgate/**/*_pb.js", { exclude: ["gen/tollgate/{chat,messages}/**"] })) {
    const module: Record<string, { kind?: string }> = await import(`../../${file}`);
    services.push(...(Object.values(module).filter(({ kind }) => kind === "service") as DescService[]));
  }
  return services.flatMap(({ methods }) => methods);
}

describe.each(dialects)("%s", (dialect) => {
  let simulator: Simulator;
  let services: Omit<Service, "idle">[];
  let service: Omit<Service, "idle">;
  let operator: Client<typeof AccountsService>;
  let client: Client<typeof AccountsService>;
  beforeAll(async () => {
    simulator = await startSimulator({ models: ["m"], speed: 0 });
    const url = await newDatabase(dialect);
    const cores = dialect === "sqlite" ? 1 : 2;
    services = [];
    for (let core = 0; core < cores; core += 1) {
      const models = [{ id: "m", servers: [{ url: simulator.url }] }];
      services.push(await serveModels(models, { storage: { url } }, true, secrets));
    }
    [service] = services as [Omit<Service, "idle">];
    operator = createClient(AccountsService, service.operator);
    client = createClient(AccountsService, service.transport);
  }, 60_000);
  afterAll(async () => {
    for (const one of services) {
      await one[Symbol.asyncDispose]();
    }
    await simulator.close();
  });

  const as = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });

  /** An account with a key that manages it. */
  async function manage(maxKeys = 20) {
    const accountId = (await operator.createAccount({ maxKeys })).account?.id ?? "";
    await operator.topUp({ accountId, amountPicoUsd: 10n ** 13n, reference: accountId });
    const { key, secret } = await operator.createKey({ accountId, manages: true });
    return { accountId, id: key?.id ?? "", secret, call: as(secret) };
  }

  test("of all methods it may call those of a developer, and no other", async () => {
    const { secret } = await manage();
    const passed: string[] = [];
    const methods = await contract();
    expect(methods.length).toBeGreaterThan(50);
    for (const method of methods) {
      const code = await codeOf(method, secret);
      if ([Access.PUBLIC, Access.PUBLIC_OR_CALLER].includes(readAccess(method))) {
        continue;
      }
      if (code !== Code.PermissionDenied) {
        passed.push(method.name);
      }
    }
    expect(passed.toSorted()).toEqual(allowed);
  });

  async function codeOf(method: DescMethod, secret: string): Promise<Code | undefined> {
    const header = as(secret).headers;
    const request = create(method.input) as never;
    try {
      if (method.methodKind === "unary") {
        await service.transport.unary(method as never, undefined, undefined, header, request);
        return undefined;
      }
      const requests = (async function* () {
        yield request;
      })();
      const { message } = await service.transport.stream(method as never, undefined, undefined, header, requests);
      for await (const _ of message) {
        break;
      }
      return undefined;
    } catch (error) {
      return ConnectError.from(error).code;
    }
  }

  test("an inference key gains nothing: it changes no key of its own account, and reads as before", async () => {
    const { accountId } = await manage();
    const { key, secret } = await operator.createKey({ accountId });
    const own = as(secret);
    const keyId = key?.id ?? "";
    for (const change of [
      client.createKey({ accountId }, own),
      client.createKey({}, own),
      client.updateKey({ keyId, name: "x" }, own),
      client.rotateKey({ keyId }, own),
      client.revokeKey({ keyId }, own),
    ]) {
      expect(await outcomeOf(change)).toBe("PERMISSION_DENIED");
    }
    expect((await client.getKey({ keyId }, own)).key?.id).toBe(keyId);
    expect((await client.identifyCaller({}, own)).memberRole).toBe(0);
  });

  test("it makes, limits, disables, rotates and revokes keys that work, and the log names it", async () => {
    const { accountId, id, call } = await manage();
    const made = await client.createKey({ name: "app", limits: { budgetPicoUsd: 10n ** 12n } }, call);
    const keyId = made.key?.id ?? "";
    expect(made.key).toMatchObject({ accountId, name: "app", manages: false });
    const works = (secret: string) => outcomeOf(client.getKeyStatus({}, as(secret)));
    expect(await works(made.secret)).toBe("done");
    await client.updateKey({ keyId, disabled: true }, call);
    expect(await works(made.secret)).toBe("UNAUTHENTICATED");
    await client.updateKey({ keyId, disabled: false, limits: { maxInFlight: 3 } }, call);
    expect(await works(made.secret)).toBe("done");
    const next = await client.rotateKey({ keyId, overlap: { seconds: 0n } }, call);
    expect(next.key).toMatchObject({ limits: { maxInFlight: 3, budgetPicoUsd: 10n ** 12n } });
    await client.revokeKey({ keyId: next.key?.id ?? "" }, call);
    expect(await works(next.secret)).toBe("UNAUTHENTICATED");

    const { auditEvents } = await createClient(AuditService, service.operator).listAuditEvents({});
    const own = auditEvents.filter((event) => event.keyId === id);
    expect(own.map(({ method }) => method.split("/")[1])).toEqual([
      ...["RevokeKey", "RotateKey", "UpdateKey", "UpdateKey", "CreateKey"],
    ]);
    expect(own.at(-1)).toMatchObject({ operator: `key ${id}`, operatorId: "", target: keyId });
    expect(JSON.stringify(own.map(({ before, after }) => [before, after]))).not.toContain(made.secret);
  });

  test("no rights beget rights: it makes, changes, rotates and revokes no management key, itself included", async () => {
    const { accountId, id: keyId, call } = await manage();
    for (const change of [
      client.createKey({ manages: true }, call),
      client.createKey({ accountId, manages: true }, call),
      client.updateKey({ keyId, name: "x" }, call),
      client.updateKey({ keyId, updateMask: { paths: ["limits.expires_at"] } }, call),
      client.rotateKey({ keyId }, call),
      client.revokeKey({ keyId }, call),
    ]) {
      expect(await outcomeOf(change)).toBe("PERMISSION_DENIED");
    }
    expect((await operator.listKeys({ accountId })).keys).toHaveLength(1);
    const rotated = await operator.rotateKey({ keyId, overlap: { seconds: 0n } });
    expect(rotated.key?.manages).toBe(true);
  });

  test("another account is not there for it", async () => {
    const { call } = await manage();
    const other = await manage();
    const keyId = (await operator.createKey({ accountId: other.accountId })).key?.id ?? "";
    for (const question of [
      client.getKey({ keyId }, call),
      client.updateKey({ keyId, disabled: true }, call),
      client.rotateKey({ keyId }, call),
      client.revokeKey({ keyId }, call),
      client.revokeKey({ keyId: other.id }, call),
    ]) {
      expect(await outcomeOf(question)).toBe("KEY_NOT_FOUND");
    }
    const { accountId } = other;
    for (const question of [client.createKey({ accountId }, call), client.listKeys({ accountId }, call)]) {
      expect(await outcomeOf(question)).toBe("PERMISSION_DENIED");
    }
    expect((await operator.getKey({ keyId })).key).toMatchObject({ disabled: false });
  });

  test("it gives no key more than the account may have: class, requests at once, rate and number of keys", async () => {
    const { accountId, call } = await manage(3);
    await operator.updateAccount({ accountId, maxInFlight: 5, serviceClass: ServiceClass.FLEX });
    const wide = [{ serviceClass: ServiceClass.STANDARD }, { maxInFlight: 6 }, { rpm: 1_000_000 }];
    const keyId = (await client.createKey({}, call)).key?.id ?? "";
    for (const limits of wide) {
      expect(await outcomeOf(client.createKey({ limits }, call))).toBe("INVALID_ARGUMENT");
      expect(await outcomeOf(client.updateKey({ keyId, limits }, call))).toBe("INVALID_ARGUMENT");
    }
    await client.updateKey({ keyId, limits: { serviceClass: ServiceClass.FLEX, maxInFlight: 5, rpm: 100 } }, call);
    const raised = client.updateAccount({ accountId, maxKeys: 100 }, call);
    expect(await outcomeOf(raised)).toBe("PERMISSION_DENIED");

    const race = await Promise.all(Array.from({ length: 4 }, () => outcomeOf(client.createKey({}, call))));
    expect(race.toSorted()).toEqual(["KEY_LIMIT_REACHED", "KEY_LIMIT_REACHED", "KEY_LIMIT_REACHED", "done"]);
    expect((await operator.listKeys({ accountId })).keys).toHaveLength(3);
  });

  test("it has no limits of requests, which it does not make, and may expire", async () => {
    const { accountId, id: keyId } = await manage();
    const all = [{ rpm: 5 }, { budgetPicoUsd: 5n }, { models: ["m"] }, { maxInFlight: 2 }, { tokensPerMinute: 9 }];
    for (const limits of all) {
      expect(await outcomeOf(operator.createKey({ accountId, manages: true, limits }))).toBe("INVALID_ARGUMENT");
      expect(await outcomeOf(operator.updateKey({ keyId, limits }))).toBe("INVALID_ARGUMENT");
    }
    await operator.updateKey({ keyId, limits: { expiresAt: { seconds: 4_000_000_000n } } });
    await operator.updateKey({ keyId, updateMask: { paths: ["*"] } });
  });

  test("it runs no inference: a clear 403 of each surface's shape, and nothing is charged", async () => {
    const { accountId, secret, call } = await manage();
    const headers = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
    const messages = [{ role: "user", content: "Hello" }];
    const ask = async (path: string, body: unknown) => {
      const response = await fetch(service.url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, json: await response.json() };
    };
    const told = expect.stringContaining("A management key runs no inference");
    const chat = { error: { message: told, type: "invalid_request_error", code: "permission_denied" } };
    for (const path of ["/v1/chat/completions", "/api/v1/chat/completions"]) {
      expect(await ask(path, { model: "m", messages })).toMatchObject({ status: 403, json: chat });
      expect(await ask(path, { model: "m", messages, stream: true })).toMatchObject({ status: 403, json: chat });
      expect(await ask(path, { model: 1 })).toMatchObject({ status: 403, json: chat });
    }
    expect(await ask("/v1/completions", { model: "m", prompt: "x" })).toMatchObject({ status: 403, json: chat });
    expect(await ask("/v1/embeddings", { model: "m", input: "x" })).toMatchObject({ status: 403, json: chat });
    const message = { type: "error", error: { type: "permission_error", message: told } };
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      expect(await ask(path, { model: "m", max_tokens: 5, messages })).toMatchObject({ status: 403, json: message });
    }
    const inference = createClient(InferenceService, service.transport);
    const generate = async () => {
      for await (const _ of inference.generate({ model: "m", text: "x" } as never, call)) {
        break;
      }
    };
    expect(await outcomeOf(generate())).toBe("PERMISSION_DENIED");
    expect((await operator.getAccount({ accountId })).account).toMatchObject({ heldPicoUsd: 0n });
  });

  test("revoked, it stops at once here and within ten seconds on every other core", async () => {
    const { id, call } = await manage();
    const clients = services.map((one) => createClient(AccountsService, one.transport));
    for (const one of clients) {
      expect(await outcomeOf(one.listKeys({}, call))).toBe("done");
    }
    await operator.revokeKey({ keyId: id });
    expect(await outcomeOf(client.createKey({}, call))).toBe("UNAUTHENTICATED");
    skipTime(10_000);
    for (const one of clients) {
      expect(await outcomeOf(one.listKeys({}, call))).toBe("UNAUTHENTICATED");
    }
  });
});
