import { readdir } from "node:fs/promises";
import type { DescField, DescMethod, DescService } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { BooksService } from "#gen/tollgate/metering/v1/books_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { OverviewService } from "#gen/tollgate/overview/v1/overview_service_pb.js";
import { allowedMethods } from "../../../facades/console/calls/allowed-methods.ts";
import { forwardedMethods, forwardedServices } from "../../../facades/console/calls/services.ts";
import { models } from "../../support/service.ts";
import { type ConsoleService, fromPage, pathOf, startConsoleService } from "./console-service.ts";

let started: ConsoleService;
/** Everything that names or belongs to another account than the customer's. */
let others: Record<"account_id" | "key_id" | "request_id" | "name", string>;
beforeAll(async () => {
  started = await startConsoleService();
  const accounts = createClient(AccountsService, started.service.operator);
  const name = "a-label-of-another";
  const { account } = await accounts.createAccount({ name });
  const accountId = account?.id ?? "";
  const { key, secret } = await accounts.createKey({ accountId, name });
  const response = await fetch(`${started.service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}` },
    body: JSON.stringify({ model: models.plain, messages: [{ role: "user", content: "Hello" }], max_tokens: 4 }),
  });
  const requestId = response.headers.get("x-request-id") ?? "";
  others = { account_id: accountId, key_id: key?.id ?? "", request_id: requestId, name };
}, 60_000);
afterAll(async () => {
  await started?.[Symbol.asyncDispose]();
});

const methods = forwardedMethods;

/** Every service of the contract, as its generated files have them: a new one is among them without a word here. */
async function findServices(): Promise<readonly DescService[]> {
  const folder = new URL("../../../gen/tollgate/", import.meta.url);
  const names = await readdir(folder, { recursive: true });
  const modules = names.filter((name) => name.endsWith("_pb.js")).map((name) => import(new URL(name, folder).href));
  const exported = (await Promise.all(modules)).flatMap((module) => Object.values(module as object));
  return exported.filter((one): one is DescService => one?.kind === "service");
}

/** A message whose every id is the other account's. */
function aimedAtOthers({ input }: DescMethod): object {
  const idOf = ({ name }: DescField): string | undefined => {
    const found = Object.entries(others).find(([field]) => name === field || name === `${field}s`);
    return found?.[1];
  };
  const fields = input.fields.flatMap((field) => {
    const id = field.message === undefined ? idOf(field) : undefined;
    return id === undefined ? [] : [[field.jsonName, field.fieldKind === "list" ? [id] : id]];
  });
  return Object.fromEntries(fields);
}

/** Calls a method as a page does. A stream's call is given up after its first piece. */
async function call(method: DescMethod, cookie: string, message: object): Promise<{ status: number; text: string }> {
  const isUnary = method.methodKind === "unary";
  const body = Buffer.from(JSON.stringify(message));
  const leave = new AbortController();
  const response = await started.fetchAsPage(pathOf(method), cookie, {
    method: "POST",
    headers: {
      "content-type": isUnary ? "application/json" : "application/connect+json",
      "connect-protocol-version": "1",
    },
    body: isUnary ? body : Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), body]),
    signal: leave.signal,
  });
  if (isUnary) {
    return { status: response.status, text: await response.text() };
  }
  const { value } = (await response.body?.getReader().read()) ?? {};
  leave.abort();
  return { status: response.status, text: Buffer.from(value ?? []).toString("latin1") };
}

const isDenied = ({ status, text }: { status: number; text: string }) =>
  status === 403 || /"code":"permission_denied"/.test(text);

test("a customer reaches nothing of another account by any id in any call", async () => {
  const cookie = await started.signIn({ apiKey: started.service.key });
  const reached: string[] = [];
  for (const method of allowedMethods("customer")) {
    for (const message of [aimedAtOthers(method), {}]) {
      const { text } = await call(method, cookie, message);
      const isTold = Object.values(others).some((one) => text.includes(one));
      const isAimed = Object.keys(message).length > 0;
      // A request that names another account is refused, or answered as if there were none of it.
      if (isTold || (isAimed && "accountId" in message && !/"code":"(permission_denied|not_found)"/.test(text))) {
        reached.push(`${method.name} ${JSON.stringify(message)}: ${text.slice(0, 200)}`);
      }
    }
  }
  expect(reached).toEqual([]);
});

test("no session reaches a service of the contract that the console's pages do not call", async () => {
  const services = await findServices();
  expect(services).toEqual(expect.arrayContaining([...forwardedServices]));
  const others = services.flatMap((service) => service.methods).filter((method) => !methods.includes(method));
  expect(others.map(({ parent }) => parent.name)).toEqual(
    expect.arrayContaining(["SessionsService", "InferenceService"]),
  );
  const answered: string[] = [];
  for (const session of [{ apiKey: started.service.key }, { operatorToken: started.service.operatorToken }]) {
    const cookie = await started.signIn(session);
    for (const method of others) {
      if (!isDenied(await call(method, cookie, aimedAtOthers(method)))) {
        answered.push(`${method.parent.typeName}/${method.name}`);
      }
    }
  }
  expect(answered).toEqual([]);
});

test("what a customer may not call is denied, whatever it asks for", async () => {
  const cookie = await started.signIn({ apiKey: started.service.key });
  const allowed = new Set(allowedMethods("customer"));
  const answered: string[] = [];
  for (const method of methods.filter((one) => !allowed.has(one))) {
    if (!isDenied(await call(method, cookie, aimedAtOthers(method)))) {
      answered.push(method.name);
    }
  }
  expect(answered).toEqual([]);
});

test("a reader is denied everything that changes something", async () => {
  const operators = createClient(OperatorsService, started.service.operator);
  const { token } = await operators.createOperator({ name: "Rita", role: Role.READER });
  const cookie = await started.signIn({ operatorToken: token });
  const allowed = new Set(allowedMethods(Role.READER));
  const answered: string[] = [];
  for (const method of methods) {
    if (isDenied(await call(method, cookie, aimedAtOthers(method))) === allowed.has(method)) {
      answered.push(method.name);
    }
  }
  expect(answered).toEqual([]);
});

test("whoever may change nothing is allowed what reads by its name, and nothing else", () => {
  const reads = /^(Get|List|Watch|Stream|Identify|FindAnything$|Reconcile$)/;
  const allowed = [...allowedMethods(Role.READER), ...allowedMethods("customer")];
  expect(allowed.map(({ name }) => name).filter((name) => !reads.test(name))).toEqual([]);
});

test("the overview begins with what is kept and goes on each second, and the proof tells its steps", async () => {
  const cookie = await started.signIn({ operatorToken: started.service.operatorToken });
  const transport = createConnectTransport({
    baseUrl: started.console.url,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        for (const [name, value] of Object.entries({ ...fromPage, cookie })) {
          request.header.set(name, value);
        }
        return next(request);
      },
    ],
  });
  let live = 0;
  for await (const { samples } of createClient(OverviewService, transport).watchOverview({})) {
    live += samples.length > 0 ? 1 : 0;
    if (live === 3) {
      expect(samples).toMatchObject([{ queued: 0, cores: expect.any(Number), capacity: expect.any(Number) }]);
      break;
    }
  }
  const steps = [];
  for await (const step of createClient(BooksService, transport).streamReconcile({})) {
    steps.push(step);
  }
  expect(steps.map(({ done }) => done)).toEqual(steps.map((_, index) => index));
  expect(steps.at(-1)).toMatchObject({
    done: steps.length - 1,
    total: steps.length - 1,
    rule: "",
    proof: { ok: true },
  });
});
