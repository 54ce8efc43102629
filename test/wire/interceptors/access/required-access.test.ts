import { hasOption } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { Access, MemberRole, Role, role as roleOption } from "#gen/tollgate/access/v1/access_pb.js";
import { readAccess, readMemberRole, readRole } from "#src/wire/interceptors/access/required-access.ts";
import { contractServices } from "./contract-services.ts";

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
