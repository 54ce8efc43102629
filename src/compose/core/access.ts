import { AccountsService } from "#gen/tollgate/accounts/v1/accounts_service_pb.js";
import { AuditService } from "#gen/tollgate/audit/v1/audit_service_pb.js";
import { OperatorsService } from "#gen/tollgate/operators/v1/operators_service_pb.js";
import { PeopleService } from "#gen/tollgate/people/v1/people_service_pb.js";
import type { Config } from "#src/config/schema.ts";
import { Accounts } from "#src/identity/accounts/accounts.ts";
import { createAuthenticator } from "#src/identity/accounts/authenticator.ts";
import { ApiKeys } from "#src/identity/accounts/keys/api-keys.ts";
import { LastUsed } from "#src/identity/accounts/keys/last-used.ts";
import { reportPeppers } from "#src/identity/accounts/keys/report-peppers.ts";
import { verifyPeppers } from "#src/identity/accounts/keys/verify-peppers.ts";
import { AuditTrail } from "#src/identity/audit/audit-trail.ts";
import { DigestFilter } from "#src/identity/digests/digest-filter.ts";
import { LiveTokens } from "#src/identity/operators/live-tokens.ts";
import { Operators } from "#src/identity/operators/operators.ts";
import { FreeGrants } from "#src/identity/people/free-grants.ts";
import { Invitations } from "#src/identity/people/invitations.ts";
import { Members } from "#src/identity/people/members.ts";
import { Passkeys } from "#src/identity/people/passkeys/passkeys.ts";
import { Persons } from "#src/identity/people/persons.ts";
import { SignUp } from "#src/identity/people/sign-up.ts";
import { createAccountsService } from "#src/services/accounts/accounts-service.ts";
import type { Dependencies as AccountsDependencies } from "#src/services/accounts/dependencies.ts";
import { limitOnHead } from "#src/services/limits/limit-on-head.ts";
import { createAuditService } from "#src/services/operators/audit-service.ts";
import { toRole } from "#src/services/operators/messages.ts";
import { createOperatorsService } from "#src/services/operators/operators-service.ts";
import { createPeopleService } from "#src/services/people/people-service.ts";
import type { Gate } from "#src/wire/grpc/server/gate.ts";
import { registration } from "#src/wire/grpc/server/registration.ts";
import { createGate } from "#src/wire/interceptors/access/authenticate.ts";
import { createCallRates } from "#src/wire/interceptors/access/call-rates.ts";
import { type TrustsPeer, trustCertified, trustFacades } from "#src/wire/interceptors/access/client-address.ts";
import { createFailedAttempts } from "#src/wire/interceptors/access/failed-attempts.ts";
import type { Foundation } from "./foundation.ts";
import type { Part } from "./interface.ts";
import type { MailPart } from "./mail.ts";
import { readPicoUsd } from "./money/amount.ts";
import type { Money } from "./money/money.ts";
import { mailInvitations } from "./people/invitation-mails.ts";
import { composeMailSignIn } from "./people/mail-sign-in.ts";
import { composePasskeys } from "./people/passkeys.ts";
import { composeSessions } from "./people/sessions.ts";

/** Accounts, their keys, operators, and the check of credentials. */
export interface Access extends Part {
  readonly gate: Gate;
  /** The audit trail of operators' changes. */
  readonly trail: AuditTrail;
  /** Judges which peers are trusted to state the addresses of operators and callers. */
  readonly trusts: TrustsPeer;
}

export async function composeAccess(
  foundation: Foundation,
  { funds, ledger, prices, balances, announcements, rateLimits }: Money,
  mail: Pick<MailPart, "box">,
  giveBack: AccountsDependencies["giveBack"],
): Promise<Access> {
  const { config, secrets, logger, random, clock, storage, catalogue, announce, refused } = foundation;
  const [pepper] = secrets.peppers;
  const accounts = new Accounts(storage, announce, balances);
  const keys = new ApiKeys({
    storage,
    clock,
    random,
    pepper,
    prefix: config.keys.prefix,
    announce,
    added: (digest) => keyFilter.add(digest),
  });
  const keyFilter = new DigestFilter(
    { after: (id) => keys.digestsAfter(id), ofAccounts: (accountIds) => keys.digestsOfAccounts(accountIds) },
    clock,
  );
  await verifyPeppers(storage, secrets.peppers);
  await reportPeppers(keys, secrets.peppers, logger);
  const operators = new Operators({ storage, clock, random });
  const liveTokens = new LiveTokens(() => operators.live(), clock);
  const trail = new AuditTrail(foundation);
  const trusts = readTrust(config);
  const lastUsed = new LastUsed((ids, at) => keys.storeLastUsed(ids, at), clock, logger);
  const freeGrant = Number(readPicoUsd(config.free_tier.grant_usd));
  const persons = new Persons(storage);
  const members = new Members(storage, keys);
  const invitations = new Invitations({ storage, clock, random });
  const signUp = new SignUp({
    storage,
    clock,
    random,
    policy: config.sign_up,
    grants: new FreeGrants({ storage, clock, random, kinds: config.free_tier.for, aDay: config.free_tier.a_day }),
    trail,
    open: (account, free, alongside) =>
      funds.open({ ...account, maxKeys: config.keys.max_per_account }, free ? freeGrant : 0, alongside),
  });
  const passkeys = new Passkeys({ storage, clock, random });
  const passkeySignIn = composePasskeys(foundation, { passkeys, signUp });
  const sessions = composeSessions(foundation, {
    passkeySignIn,
    mailSignIn: composeMailSignIn(foundation, mail, signUp),
    operators,
    keys,
    persons,
    members,
    signUp,
    trail,
    trusts,
    authenticator: () => authenticator,
    accountChanged: (accountId) => accountChanged(accountId),
  });
  const authenticator = createAuthenticator({
    ...secrets,
    sessions: sessions.finder,
    mayExist: (digests) => keyFilter.mayExist(digests),
    findKey: (digests) => keys.find(digests),
    findOperator: async (token) => {
      const found = await liveTokens.find(token);
      return found && { kind: "operator", id: found.id, name: found.name, role: toRole(found.role) };
    },
    findAccount: (id) => accounts.find(id),
    lastUsed,
    clock,
  });
  const stopKeyFilter = keyFilter.start(logger);
  const heard = (accountId: string | undefined) => {
    if (accountId !== undefined) {
      keyFilter.announce(accountId); // keys of other accounts are found when they are asked for
    }
    authenticator.forget(accountId);
  };
  // A missing connection is made with the ledger's own, which is tried again and again.
  announcements
    .listen(heard)
    .catch((error: unknown) => logger.warn({ error }, "announcements of other cores are not heard yet"));
  const accountChanged = (accountId: string) => {
    authenticator.forget(accountId);
    // A lost announcement does little harm: other cores keep an answer about a key only for a short time. Leases of
    // budgets come back, so that a new limit applies to them, too.
    ledger.callIn(accountId).catch((error: unknown) => logger.warn({ error }, "a changed account was not announced"));
  };
  const accountsService = createAccountsService({
    accounts,
    keys,
    funds,
    prices,
    storage,
    clock,
    random,
    accountChanged,
    budgetState: (budget) => ledger.budgetState(budget),
    tierRpm: async (accountId) => (await rateLimits.read({ kind: "caller", accountId, keyId: "" })).limit,
    maxKeys: config.keys.max_per_account,
    freeGrant,
    giveBack,
    removePeople: (accountId) => members.removeAll(accountId),
    models: () => catalogue.list().map(({ id }) => id),
  });
  return {
    services: [
      registration(AccountsService, accountsService),
      registration(AuditService, createAuditService(trail)),
      registration(
        OperatorsService,
        createOperatorsService({
          operators,
          changed: () => liveTokens.forget(),
          endSessions: sessions.endOperator,
        }),
      ),
      registration(
        PeopleService,
        createPeopleService({
          ...{ persons, members, invitations, passkeys, passkeySignIn, accountChanged },
          requireAccount: (id) => accounts.get(id),
          mailInvitation: mailInvitations(foundation, mail),
          sendsMail: mail.box !== undefined,
          trusts,
        }),
      ),
      sessions.service,
    ],
    gate: limitOnHead(
      createGate(authenticator, createFailedAttempts({}, clock), trusts, createCallRates({}, clock), refused),
      rateLimits,
    ),
    trail,
    trusts,
    async stop() {
      stopKeyFilter();
      sessions.stop();
      await lastUsed.flush();
    },
  };
}

function readTrust({ listen: { tls, trusted_facades } }: Config): TrustsPeer {
  return tls?.client_ca === undefined ? trustFacades(trusted_facades) : trustCertified;
}
