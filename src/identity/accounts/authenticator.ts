import { hash, timingSafeEqual } from "node:crypto";
import type { ConnectError } from "@connectrpc/connect";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Pepper } from "#lib/ids/pepper.ts";
import { requireId } from "#lib/ids/validate-id.ts";
import { andThen, atOnce } from "#lib/time/and-then.ts";
import type { Clock } from "#lib/time/clock.ts";
import { toDuration } from "#lib/time/duration.ts";
import type { ServiceCredential } from "#src/config/secrets/named-secrets.ts";
import type { Account } from "#src/storage/entities/account.ts";
import type { ApiKey } from "#src/storage/entities/api-key.ts";
import {
  type Authenticator,
  type Caller,
  EndedKey,
  type Operator,
  type Principal,
  type SessionFinder,
} from "#src/wire/principal.ts";
import { isApiKey, toDigest } from "./keys/api-key.ts";
import { KeyCache } from "./keys/key-cache.ts";
import type { LastUsed } from "./keys/last-used.ts";
import { type AccountState, type KnownKey, type KnownSession, readState, toKnownKey, toKnownSession } from "./known.ts";

interface Dependencies {
  readonly operatorToken: string;
  readonly services: readonly ServiceCredential[];
  readonly peppers: readonly [Pepper, ...Pepper[]];
  /** Recognizes keys that do not exist, by their digests, without asking the store. */
  readonly mayExist: (digests: readonly Buffer[]) => boolean | Promise<boolean>;
  /** Finds the key that has one of these digests. */
  readonly findKey: (digests: readonly [Buffer, ...Buffer[]]) => Promise<ApiKey | undefined>;
  /** Finds an operator by their own token. */
  readonly findOperator: (token: string) => Promise<Operator | undefined>;
  /** Finds an account by its id. */
  readonly findAccount: (id: string) => Promise<Account | undefined>;
  readonly sessions: SessionFinder;
  readonly lastUsed: LastUsed;
  readonly clock: Clock;
}

/** An authenticator that can be told of changed keys. */
export interface KeyAuthenticator extends Authenticator {
  /** Forgets an account and its keys: from now on this core asks the store. Undefined: forgets all of them. */
  forget(accountId: string | undefined): void;
  /** Forgets a session that was ended here. */
  forgetSession(id: string): void;
}

/** How long the store may take to find a key: a stalled store must not stall callers, too. */
const patienceMs = 5000;

/** The operator of the configured token. */
const root: Operator = { kind: "operator", id: "", name: "root", role: Role.OWNER };

/** Recognizes API keys and tokens by their digests. Keys are remembered for a few seconds. */
export function createAuthenticator(parts: Dependencies): KeyAuthenticator {
  const { peppers, mayExist, findKey, findAccount, lastUsed, clock } = parts;
  const cache = new KeyCache<KnownKey>(async (secret) => {
    const [pepper, ...older] = peppers;
    const digests: [Buffer, ...Buffer[]] = [toDigest(secret, pepper), ...older.map((one) => toDigest(secret, one))];
    const isPossible = mayExist(digests);
    // Thrown rather than returned, so that it is not remembered: another core may be making the key at this moment.
    if (!(typeof isPossible === "boolean" ? isPossible : await inTime(isPossible, clock))) {
      throw unknownKey();
    }
    const key = await inTime(findKey(digests), clock);
    return key && toKnownKey(key);
  }, clock);
  const states = new KeyCache<AccountState>(
    async (id) => readState(await inTime(findAccount(id), clock)),
    clock,
    (id) => id,
  );
  const sessions = new KeyCache<KnownSession>(async (token) => {
    const session = await inTime(parts.sessions.find(token), clock);
    return session && toKnownSession(session);
  }, clock);
  const operator = sha256(parts.operatorToken);
  const services = new Map(parts.services.map((service) => [sha256(service.token).toString("latin1"), service]));

  function callerOfKey(known: KnownKey | undefined): Caller | Promise<Caller> {
    if (!known) {
      throw unknownKey();
    }
    if (known.revoked) {
      throw endedKey("The API key has been revoked.", known);
    }
    if (known.expiresAt <= clock.now()) {
      throw endedKey("The API key has expired.", known);
    }
    if (known.disabled) {
      throw endedKey("The API key is disabled.", known);
    }
    lastUsed.note(known.caller.keyId);
    return withState(known.caller);
  }

  async function ownerOfSession(token: string): Promise<Principal> {
    const answer = sessions.get(token);
    const known = answer instanceof Promise ? await answer : answer;
    if (known === undefined || known.expiresAt <= clock.now()) {
      throw failure(Reason.UNAUTHENTICATED, "The session has ended.");
    }
    return known.principal.kind === "caller" ? withState(known.principal) : known.principal;
  }

  /** A caller with its account's limits, which are remembered for as long as a key is. */
  function withState(caller: Caller): Caller | Promise<Caller> {
    if (caller.accountId === "") {
      return caller; // a person without an account
    }
    const answer = states.get(caller.accountId);
    const add = (state: AccountState | undefined) =>
      state?.limits === undefined ? caller : { ...caller, ...state.limits };
    return answer instanceof Promise ? answer.then(add) : add(answer);
  }

  async function principalOfToken(credential: string, payingAccountId: string | undefined): Promise<Principal> {
    const digest = sha256(credential);
    if (timingSafeEqual(digest, operator)) {
      return root;
    }
    const service = services.get(digest.toString("latin1"));
    if (service) {
      return withState(callerOfService(service, payingAccountId));
    }
    if (parts.sessions.isToken(credential)) {
      return ownerOfSession(credential);
    }
    const found = await inTime(parts.findOperator(credential), clock);
    if (found !== undefined) {
      return found;
    }
    throw failure(Reason.UNAUTHENTICATED, "The credential is not a valid API key or token.");
  }

  return {
    authenticate(credential, payingAccountId) {
      return isApiKey(credential)
        ? atOnce(() => andThen(cache.get(credential), callerOfKey))
        : principalOfToken(credential, payingAccountId);
    },
    forget(accountId) {
      const isMeant = (id: string) => accountId === undefined || id === accountId;
      cache.forget(({ caller }) => isMeant(caller.accountId));
      states.forget((state) => isMeant(state.accountId));
      sessions.forget(({ principal }) => principal.kind === "caller" && isMeant(principal.accountId));
    },
    forgetSession(id) {
      sessions.forget(({ principal }) => principal.sessionId === id);
    },
  };
}

function endedKey(message: string, { caller }: KnownKey): ConnectError {
  return failure(Reason.UNAUTHENTICATED, message, {}, new EndedKey(caller));
}

function unknownKey(): ConnectError {
  return failure(Reason.UNAUTHENTICATED, "The API key is unknown.");
}

/** The store's answer. Throws LEDGER_UNAVAILABLE when the store fails or takes too long. */
async function inTime<T>(answer: Promise<T>, clock: Clock): Promise<T> {
  try {
    return await new Promise<T>((resolve, reject) => {
      const late = () => reject(new Error(`no answer within ${patienceMs} ms`));
      const cancel = clock.after(patienceMs, late);
      answer.then(resolve, reject).finally(cancel);
    });
  } catch (error) {
    const facts = { retryAfter: toDuration(1000) };
    throw failure(Reason.LEDGER_UNAVAILABLE, "Credentials cannot be checked at the moment.", facts, error);
  }
}

function callerOfService(service: ServiceCredential, accountId: string | undefined): Caller {
  if (accountId === undefined || accountId === "") {
    throw failure(Reason.PERMISSION_DENIED, "A service token needs the id of the account that pays.");
  }
  requireId(accountId, "account");
  if (service.accounts && !service.accounts.includes(accountId)) {
    throw failure(Reason.PERMISSION_DENIED, `The service ${service.name} may not call on behalf of this account.`);
  }
  return { kind: "caller", accountId, keyId: "" };
}

function sha256(text: string): Buffer {
  return hash("sha256", text, "buffer");
}
