import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { type Identities, startIdentities } from "../support/identities.ts";
import { outcomeOf } from "../support/reason-of.ts";
import { type Service, serveModels } from "../support/service.ts";

// Sign-in by several providers of identities side by side, of customers and of operators.

let corp: Identities;
let other: Identities;
let service: Omit<Service, "idle">;
beforeAll(async () => {
  [corp, other] = [await startIdentities("tollgate"), await startIdentities("tollgate")];
  const client_id = "tollgate";
  service = await serveModels([{ id: "m", servers: [{ url: "http://127.0.0.1:9" }] }], {
    sign_in: {
      oidc: [
        { id: "corp", issuer: corp.issuer, client_id, name: "Corp" },
        { id: "other", issuer: other.issuer, client_id },
        { id: "claimed", issuer: corp.issuer, client_id, account_claim: "account" },
      ],
      operators: {
        oidc: { issuer: corp.issuer, client_id, groups: { readers: "reader", helpers: "support", owners: "owner" } },
      },
    },
    sign_up: "open",
    free_tier: { grant_usd: "1" },
  });
}, 60_000);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await corp[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

const sessions = () => createClient(SessionsService, service.transport);
test("all providers are listed, customers' first, and each has pages of its own", async () => {
  const { oidcName, providers } = await sessions().getSignInOptions({});
  expect(oidcName).toBe("Corp");
  expect(providers.map(({ id, name, forOperators }) => [id, name, forOperators])).toEqual([
    ["corp", "Corp", false],
    ["other", new URL(other.issuer).host, false],
    ["claimed", new URL(corp.issuer).host, false],
    ["operators", new URL(corp.issuer).host, true],
  ]);
  const redirectUrl = "http://127.0.0.1/sign-in/none/callback";
  expect(await outcomeOf(sessions().beginOidcSignIn({ provider: "none", redirectUrl }))).toBe("UNSUPPORTED");
});

test("whoever signs up owns an account with free money; the same address elsewhere is somebody else", async () => {
  const ada = { sub: "ada", name: "Ada", email: "ada@example.com", email_verified: true };
  const { session, token } = await corp.signIn(sessions(), ada, { provider: "corp" });
  expect(session).toMatchObject({ memberRole: MemberRole.OWNER, personName: "Ada", role: Role.UNSPECIFIED });
  expect((await corp.signIn(sessions(), ada, { provider: "corp" })).session?.personId).toBe(session?.personId);
  const thief = await other.signIn(sessions(), { ...ada }, { provider: "other" });
  expect(thief.session?.personId).not.toBe(session?.personId);
  expect(thief.session?.accountId).not.toBe(session?.accountId);

  const accounts = createClient(AccountsService, service.transport);
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const balance = async (bearer: string) => (await accounts.getAccount({}, as(bearer))).account?.balancePicoUsd;
  expect([await balance(token), await balance(thief.token)]).toEqual([10n ** 12n, 0n]);
  const made = await accounts.createKey({ manages: true }, as(token));
  const program = { headers: { authorization: `Bearer ${made.secret}` } };
  expect((await accounts.createKey({ name: "by a program" }, program)).key?.name).toBe("by a program");
});

test("what one provider answers opens nothing at another one's page", async () => {
  const begun = await sessions().beginOidcSignIn({
    provider: "corp",
    redirectUrl: "http://127.0.0.1/sign-in/corp/callback",
  });
  const callbackUrl = "http://127.0.0.1/sign-in/other/callback?code=c&state=s";
  expect(await outcomeOf(sessions().finishOidcSignIn({ callbackUrl, pending: begun.pending }))).toBe("UNAUTHENTICATED");
});

test("an operator has the highest role of its groups, and loses what it opened with the group", async () => {
  const bea = { sub: "bea", name: "root", email: "bea@example.com", groups: ["readers", "owners", "others"] };
  const options = { provider: "operators" };
  const owner = await corp.signIn(sessions(), bea, options);
  expect(owner.session).toMatchObject({ role: Role.OWNER, operatorName: "root <bea@example.com>", accountId: "" });
  const reader = await corp.signIn(sessions(), { ...bea, sub: "rae", name: "Rae", groups: "readers" }, options);
  expect(reader.session?.role).toBe(Role.READER);
  const helper = await corp.signIn(sessions(), { ...bea, sub: "cleo", groups: ["helpers"] }, options);
  expect(helper.session?.role).toBe(Role.READER);

  const operators = createClient(OperatorsService, service.transport);
  const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const accounts = createClient(AccountsService, service.transport);
  const create = (name: string, token: string) => accounts.createAccount({ name }, as(token));
  expect(await outcomeOf(create("a", owner.token))).toBe("done");
  expect(await outcomeOf(create("b", reader.token))).toBe("PERMISSION_DENIED");
  const { auditEvents } = await createClient(AuditService, service.transport).listAuditEvents({}, as(reader.token));
  const made = auditEvents.find(({ personId }) => personId === owner.session?.personId);
  expect(made).toMatchObject({ operator: "root <bea@example.com>", method: expect.stringMatching(/CreateAccount$/) });

  const { account } = await accounts.createAccount({}, as(owner.token));
  const { keyId } = await sessions().createSessionKey({ accountId: account?.id ?? "" }, as(owner.token));
  const gone = corp.signIn(sessions(), { ...bea, groups: ["others", "toString"] }, options);
  expect(await outcomeOf(gone)).toBe("PERMISSION_DENIED");
  expect(await outcomeOf(operators.listOperators({}, as(owner.token)))).toBe("UNAUTHENTICATED");
  const { key } = await createClient(AccountsService, service.operator).getKey({ keyId });
  expect(key?.revokedAt).toBeDefined();
  expect(await outcomeOf(corp.signIn(sessions(), { ...bea, groups: undefined }, options))).toBe("PERMISSION_DENIED");
});

test("an operator whose groups became lower keeps no session of the higher role", async () => {
  const bob = { sub: "bob", name: "Bob", email: "bob@example.com", groups: ["owners"] };
  const options = { provider: "operators" };
  const owner = await corp.signIn(sessions(), bob, options);
  const reader = await corp.signIn(sessions(), { ...bob, groups: ["readers"] }, options);
  const outcome = (token: string) =>
    outcomeOf(sessions().getSession({}, { headers: { authorization: `Bearer ${token}` } }));
  expect([await outcome(owner.token), await outcome(reader.token)]).toEqual(["UNAUTHENTICATED", "done"]);
  await corp.signIn(sessions(), bob, options);
  expect(await outcome(reader.token)).toBe("done");
});

test("who is turned away as an operator comes in as a new customer", async () => {
  const accounts = createClient(AccountsService, service.operator);
  const { account } = await accounts.createAccount({});
  const eve = { sub: "eve", name: "Eve", email: "eve@example.com", account: account?.id };
  expect(await outcomeOf(corp.signIn(sessions(), eve, { provider: "operators" }))).toBe("PERMISSION_DENIED");
  const { session } = await corp.signIn(sessions(), eve, { provider: "claimed" });
  expect(session).toMatchObject({ accountId: account?.id, memberRole: MemberRole.OWNER });
});
