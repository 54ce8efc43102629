import { type Doors, noFigure, noPanel, operatorsAlone, refusals } from "./door.ts";

/** Who may do what, and what was done. */
export const peopleDoors: Readonly<Record<string, Doors>> = {
  "people of an account": {
    contract: [
      ...["PeopleService.GetPerson", "PeopleService.UpdatePerson name", "PeopleService.ListAccounts > accounts.role"],
      ...["PeopleService.UpdatePerson mails", "PeopleService.GetPerson > mailed_events"],
      ...["PeopleService.ListMembers > members.role", "PeopleService.SetMemberRole role", "PeopleService.RemoveMember"],
      ...["PeopleService.LeaveAccount", "PeopleService.GetInvitation > inviter_name"],
      ...["PeopleService.CreateInvitation email", "PeopleService.ListInvitations > invitations.expires_at"],
      ...["PeopleService.ListPasskeys > passkeys.used_at", "PeopleService.BeginPasskey name"],
      ...["PeopleService.FinishPasskey", "PeopleService.RemovePasskey passkey_id"],
      ...["PeopleService.RevokeInvitation", "PeopleService.AcceptInvitation token", "AccountsService.CloseAccount"],
      ...["AuditService.ListAuditEvents account_id", "AuditService.ListAuditEvents > audit_events.person_id"],
    ],
    cli: [
      ...["accounts members > role", "accounts invite --role", "accounts invite --email", "accounts invite > token"],
      ...["accounts close > refunded_usd", "audit list > person_id", "audit list > account_id"],
    ],
    openapi: "- programs manage keys alone over HTTP; people use the console",
    metrics: noFigure,
    dashboard: noPanel,
    config: [
      "sign_in.oidc",
      "sign_in.operators",
      "sign_in.passkeys",
      "sign_up",
      "free_tier.for",
      "free_tier.a_day",
      "playground.usd",
    ],
    docs: [
      "people.md: Roles",
      "people.md: Invitations",
      "people.md: Signing in and up",
      "people.md: Passkeys",
      "people.md: A link by mail",
      "people.md: What people get mail about",
      "people.md: Closing an account",
    ],
    console: ["people", "invitation", "audit", "sign-in"],
  },
  "a frozen account": {
    contract: [
      ...["AccountsService.FreezeAccount reason", "AccountsService.UnfreezeAccount"],
      ...["AccountsService.GetAccount > account.frozen", "AccountsService.GetAccount > account.frozen_reason"],
    ],
    cli: [
      ...["accounts freeze --reason", "accounts unfreeze", "accounts show > frozen"],
      ...["accounts show > frozen_reason", "accounts show > frozen_at"],
    ],
    openapi: [
      ...["GET /test-auth > frozen", "GET /v1/key > data.frozen", "GET /v1/credits > data.frozen"],
      ...["POST /v1/chat/completions 403", "POST /v1/embeddings 403", "POST /v1/messages 403"],
    ],
    metrics: ["tollgate_limit_refusals_total frozen"],
    dashboard: [refusals],
    docs: ["clients.md: What a key may do"],
    console: ["account"],
  },
  operators: {
    contract: [
      ...["OperatorsService.CreateOperator role", "OperatorsService.ListOperators > operators.role"],
      ...["OperatorsService.RevokeOperator", "OperatorsService.IdentifyOperator"],
    ],
    cli: ["operators create --role", "operators create > token", "operators list > role", "operators revoke"],
    openapi: operatorsAlone,
    metrics: noFigure,
    dashboard: noPanel,
    docs: ["operations.md: Operators"],
    console: ["settings"],
  },
  "the audit log": {
    contract: ["AuditService.ListAuditEvents from", "AuditService.ListAuditEvents > audit_events.before"],
    cli: [
      ...["audit list --from", "audit list --limit"],
      ...["at", "operator", "method", "target", "before", "after", "address"].map((field) => `audit list > ${field}`),
    ],
    openapi: operatorsAlone,
    metrics: ["tollgate_audit_lost_total"],
    dashboard: "- it should never count: the alert TollgateAuditLost watches it",
    docs: ["operations.md: Operators"],
    console: ["audit"],
  },
};
