import { createClient, type Transport } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { WebhooksService } from "#gen/tollgate/events/v1/webhooks_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { skipTime } from "../support/clocks/skip-time.ts";
import { type Service, startService } from "../support/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService();
}, 60_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
});

const bearer = (credential: string) => ({ headers: { authorization: `Bearer ${credential}` } });
const session = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const sessionsOf = (transport: Transport) => createClient(SessionsService, transport);

async function account() {
  const accounts = createClient(AccountsService, service.operator);
  const { account: made } = await accounts.createAccount({});
  const accountId = made?.id ?? "";
  return { accountId, secret: (await accounts.createKey({ accountId })).secret };
}

/** What the audit log has of a thing, newest first. */
async function noted(of: (event: { method: string; target: string; operator: string }) => boolean) {
  const { auditEvents } = await createClient(AuditService, service.operator).listAuditEvents({});
  return auditEvents.filter(of);
}

test("sessions are listed, ended one by one and by account, and ended ones are over at once", async () => {
  const { accountId, secret } = await account();
  const sessions = sessionsOf(service.operator);
  const open = () => sessionsOf(service.transport).createSession({}, bearer(secret));
  const [first, second, third] = [await open(), await open(), await open()];
  const list = async () => (await sessions.listSessions({ accountId })).sessions.map(({ id }) => id);
  expect(await list()).toEqual([first, second, third].map(({ session }) => session?.id));
  const pages = await sessions.listSessions({ accountId, pageSize: 2 });
  expect(pages.sessions).toHaveLength(2);
  expect(pages.sessions[0]).toMatchObject({ accountId, operatorName: "", createdAt: expect.anything() });
  const rest = await sessions.listSessions({ accountId, pageSize: 2, pageToken: pages.nextPageToken });
  expect(rest.sessions.map(({ id }) => id)).toEqual([third.session?.id]);
  const isLive = (token: string) =>
    sessionsOf(service.transport)
      .getSession({}, session(token))
      .then(
        () => true,
        () => false,
      );
  expect(await Promise.all([first, second, third].map(({ token }) => isLive(token)))).toEqual([true, true, true]);
  expect(await sessions.endSessions({ sessionId: first.session?.id ?? "" })).toMatchObject({ ended: 1 });
  expect(await Promise.all([first, second].map(({ token }) => isLive(token)))).toEqual([false, true]);
  expect(await sessions.endSessions({ accountId })).toMatchObject({ ended: 2 });
  expect(await isLive(third.token)).toBe(false);
  expect(await sessions.endSessions({ accountId })).toMatchObject({ ended: 0 });
  expect(await noted(({ method }) => method.endsWith("/EndSessions"))).toHaveLength(3);
  for (const wrong of [{}, { accountId, sessionId: first.session?.id ?? "" }]) {
    await expect(sessions.endSessions(wrong)).rejects.toThrow("Name a session or an account");
  }
});

test("operators' sign-ins are in the audit log, with who, how and from where", async () => {
  const sessions = sessionsOf(service.operator);
  const { session: opened } = await sessions.createSession({});
  expect(await noted(({ target }) => target === opened?.id)).toMatchObject([
    { operator: "root", method: "tollgate.sessions.v1.SessionsService/CreateSession", after: { role: "OWNER" } },
  ]);
  const { token } = await sessions.createSignInLink({ role: Role.READER });
  const redeemed = await sessionsOf(service.transport).redeemSignInLink({ token });
  expect(await noted(({ target }) => target === redeemed.session?.id)).toMatchObject([
    { operator: "root", method: "tollgate.sessions.v1.SessionsService/RedeemSignInLink", after: { role: "READER" } },
  ]);
  expect(await noted(({ method }) => method.endsWith("/CreateSignInLink"))).toHaveLength(1);
});

test("what is refused to an operator is in the audit log, once a minute for a method", async () => {
  const operators = createClient(OperatorsService, service.operator);
  const { token } = await operators.createOperator({ name: "reader", role: Role.READER });
  const asReader = createClient(AccountsService, service.transport);
  for (let times = 0; times < 3; times += 1) {
    await expect(asReader.createAccount({}, bearer(token))).rejects.toThrow("needs the role billing");
  }
  expect(
    await noted(({ method, operator }) => method.endsWith("/CreateAccount") && operator === "reader"),
  ).toMatchObject([{ after: { refused: expect.stringContaining("needs the role billing") } }]);
});

test("a session makes no operators, no webhooks and no links: the token itself is asked for", async () => {
  const { token } = await sessionsOf(service.operator).createSession({});
  const asSession = session(token);
  const refused = "send the operator's token itself";
  const operators = createClient(OperatorsService, service.transport);
  await expect(operators.createOperator({ name: "x", role: Role.READER }, asSession)).rejects.toThrow(refused);
  const webhooks = createClient(WebhooksService, service.transport);
  await expect(webhooks.createWebhook({ url: "https://example.com/" }, asSession)).rejects.toThrow(refused);
  await expect(sessionsOf(service.transport).createSignInLink({}, asSession)).rejects.toThrow(refused);
  expect(await noted(({ method }) => method.endsWith("/CreateWebhook"))).toMatchObject([
    { operator: "root", after: { refused: expect.stringContaining(refused) } },
  ]);
});

/** A session of an operator that has made a key. */
async function makeKey(headers: { readonly headers: Record<string, string> }, accountId: string) {
  const { token: link } = await sessionsOf(service.transport).createSignInLink({}, headers);
  const { token } = await sessionsOf(service.transport).redeemSignInLink({ token: link });
  const { keyId } = await sessionsOf(service.transport).createSessionKey({ accountId }, session(token));
  const isLive = async () =>
    (await createClient(AccountsService, service.operator).getKey({ keyId })).key?.revokedAt === undefined;
  return { token, isLive };
}

test("the keys of an operator's session end with it, also when others displace it or the operator is revoked", async () => {
  const { accountId } = await account();
  const operators = createClient(OperatorsService, service.operator);
  const { operator, token } = await operators.createOperator({ name: "keys", role: Role.OWNER });
  const own = bearer(token);
  const first = await makeKey(own, accountId);
  for (let more = 0; more < 99; more += 1) {
    if (more % 20 === 0) {
      skipTime(60_000); // so many sign-ins take some minutes
    }
    await sessionsOf(service.transport).createSession({}, own);
  }
  expect(await first.isLive()).toBe(true);
  const last = await makeKey(own, accountId);
  expect([await first.isLive(), await last.isLive()]).toEqual([false, true]);
  await expect(sessionsOf(service.transport).getSession({}, session(first.token))).rejects.toThrow("has ended");
  await operators.revokeOperator({ operatorId: operator?.id ?? "" });
  expect(await last.isLive()).toBe(false);
}, 60_000);
