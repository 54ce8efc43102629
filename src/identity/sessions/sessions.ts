import type { FilterQuery } from "@mikro-orm/core";
import { LockMode, type SqlEntityManager } from "@mikro-orm/sql";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Random } from "#lib/ids/random.ts";
import type { PageStart } from "#lib/rpc/pages.ts";
import type { Clock } from "#lib/time/clock.ts";
import { ConsoleSession, SignInLink } from "#src/storage/entities/operators/console-session.ts";
import { operatorRoles } from "#src/storage/entities/operators/operator.ts";
import type { Storage } from "#src/storage/storage.ts";
import { inTransaction } from "#src/storage/transaction.ts";
import { DigestFilter, type StoredDigest } from "../digests/digest-filter.ts";
import {
  isLinkToken,
  isSessionCookie,
  isSessionToken,
  newLinkToken,
  newSessionToken,
  toCookie,
  toDigest,
} from "./session-token.ts";

/** How long a session lasts, in milliseconds. */
const sessionMs = 12 * 3_600_000;
/** How long a link can be used, in milliseconds. */
const linkMs = 600_000;
/** The most live sessions of one account or operator. The oldest ends when another begins. */
const mostLive = 100;
/** The most keys that one session may make. */
const mostKeys = 10;
/** Keys that are made meanwhile are noted before a session ends, or not at all. */
const locked = { lockMode: LockMode.PESSIMISTIC_WRITE } as const;
/** How many digests are read at a time. */
const digestPage = 10_000;

/** The owner of a session or a link. */
export type Owner = Pick<ConsoleSession, "role" | "operatorId" | "accountId" | "keyId" | "personId">;

/** A new session. Its token, and the cookie made from it, are stored nowhere. */
export interface NewSession {
  readonly session: ConsoleSession;
  readonly token: string;
  readonly cookie: string;
  /** The sessions that ended because it began. */
  readonly displaced: readonly ConsoleSession[];
}

interface Dependencies {
  readonly storage: Storage;
  readonly clock: Clock;
  readonly random: Random;
  /** The configured operator token, to which sessions and links are bound. */
  readonly operatorToken: string;
}

/** The stored sessions and sign-in links of the console. */
export class Sessions {
  readonly #parts: Dependencies;
  /** The digests of sessions and links: wrong tokens do not each ask the database. */
  readonly filter: DigestFilter;

  constructor(parts: Dependencies) {
    this.#parts = parts;
    this.filter = new DigestFilter({ after: (id) => this.#digestsAfter(id), ofAccounts: async () => [] }, parts.clock);
  }

  /** Makes a link that signs an operator in once. */
  async createLink(owner: Pick<SignInLink, "role" | "operatorId">): Promise<{ token: string; expiresAt: Date }> {
    const { storage, random } = this.#parts;
    const token = newLinkToken(random);
    const now = this.#now();
    const expiresAt = new Date(now.getTime() + linkMs);
    await inTransaction(storage, async (em) => {
      await em.nativeDelete(SignInLink, { expiresAt: { $lte: now } });
      em.persist(em.create(SignInLink, { id: random.uuid(), digest: this.#digest(token), ...owner, expiresAt }));
    });
    this.filter.add(this.#digest(token));
    return { token, expiresAt };
  }

  /**
   * Ends a link and opens its session. Throws UNAUTHENTICATED when the link was used, is too old, or does not exist.
   */
  async redeem(linkToken: string): Promise<NewSession> {
    const digest = isLinkToken(linkToken) ? this.#digest(linkToken) : undefined;
    // Looked at before a transaction begins: anybody can try links, and a transaction keeps others waiting.
    const exists =
      digest !== undefined &&
      (await this.filter.mayExist([digest])) &&
      (await this.#findLink(this.#parts.storage.orm.em.fork(), digest)) !== null;
    const opened =
      exists &&
      (await inTransaction(this.#parts.storage, async (em) => {
        const link = await this.#findLink(em, digest);
        // Of several people who use it at once, only the one whose deletion finds it is let in.
        if (link === null || (await em.nativeDelete(SignInLink, { digest })) === 0) {
          return undefined;
        }
        const { role, operatorId } = link;
        return this.#open(em, { role, operatorId, accountId: null, keyId: null, personId: null });
      }));
    if (!opened) {
      throw failure(Reason.UNAUTHENTICATED, "The link was used, is older than ten minutes, or is none.");
    }
    return opened;
  }

  /** Opens a session. `endsAt`: before the usual time. */
  create(owner: Owner, endsAt?: Date): Promise<NewSession> {
    return inTransaction(this.#parts.storage, (em) => this.#open(em, owner, endsAt));
  }

  /** The session of a token or a cookie. Undefined: it has ended. */
  async find(credential: string): Promise<ConsoleSession | undefined> {
    const cookie = isSessionToken(credential) ? this.#cookieOf(credential) : credential;
    if (!isSessionCookie(cookie)) {
      return undefined;
    }
    const digest = this.#digest(cookie);
    if (!(await this.filter.mayExist([digest]))) {
      return undefined;
    }
    const where = { digest, expiresAt: { $gt: this.#now() } };
    return (await this.#parts.storage.orm.em.fork().findOne(ConsoleSession, where)) ?? undefined;
  }

  /** Throws UNAUTHENTICATED when the session has ended. */
  async get(id: string): Promise<ConsoleSession> {
    const session = await this.#parts.storage.orm.em.fork().findOne(ConsoleSession, { id });
    if (session === null) {
      throw ended();
    }
    return session;
  }

  /**
   * Notes a key that ends with a session. Throws UNAUTHENTICATED when the session has ended, INVALID_ARGUMENT when it
   * has too many keys.
   */
  addKey(id: string, keyId: string): Promise<void> {
    return inTransaction(this.#parts.storage, async (em) => {
      const session = await em.findOne(ConsoleSession, { id }, locked);
      if (session === null) {
        throw ended();
      }
      if (session.keyIds.length >= mostKeys) {
        throw failure(Reason.INVALID_ARGUMENT, `A session may make ${mostKeys} keys: sign out and in again.`);
      }
      session.keyIds = [...session.keyIds, keyId];
    });
  }

  /** Live sessions, oldest first. `accountId` undefined: everybody's. */
  list(accountId: string | undefined, { after, limit }: PageStart): Promise<ConsoleSession[]> {
    const where = {
      expiresAt: { $gt: this.#now() },
      ...(accountId !== undefined && { accountId }),
      ...(after !== undefined && { id: { $gt: after } }),
    };
    return this.#parts.storage.orm.em.fork().find(ConsoleSession, where, { orderBy: { id: "asc" }, limit });
  }

  /** Ends a session, or all sessions of an account or an operator. Returns those that ended. */
  end(
    which: { readonly id: string } | { readonly accountId: string } | { readonly operatorId: string },
  ): Promise<ConsoleSession[]> {
    return inTransaction(this.#parts.storage, (em) => endWithin(em, which));
  }

  /** Ends the operator's sessions of a person that have more than a role, which is null for none. Returns those that ended. */
  endOperator(personId: string, role: (typeof operatorRoles)[number] | null): Promise<ConsoleSession[]> {
    const higher = operatorRoles.slice(role === null ? 0 : operatorRoles.indexOf(role) + 1);
    return inTransaction(this.#parts.storage, (em) => endWithin(em, { personId, role: { $in: higher } }));
  }

  #findLink(em: SqlEntityManager, digest: Buffer): Promise<SignInLink | null> {
    return em.findOne(SignInLink, { digest, expiresAt: { $gt: this.#now() } });
  }

  /** The next sessions and links after an id, in the order of ids. */
  async #digestsAfter(id: string): Promise<readonly StoredDigest[]> {
    const em = this.#parts.storage.orm.em.fork();
    const where = { id: { $gt: id } };
    const options = {
      fields: ["id", "digest"],
      orderBy: { id: "asc" },
      limit: digestPage,
      disableIdentityMap: true,
    } as const;
    const found: StoredDigest[] = [
      ...(await em.find(ConsoleSession, where, options)),
      ...(await em.find(SignInLink, where, options)),
    ];
    return found.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, digestPage);
  }

  async #open(em: SqlEntityManager, owner: Owner, endsAt?: Date): Promise<NewSession> {
    const { random } = this.#parts;
    const now = this.#now();
    await em.nativeDelete(ConsoleSession, { expiresAt: { $lte: now } });
    const { accountId = null, operatorId = null, personId = null } = owner;
    const whose = { accountId, operatorId, personId };
    const newest = await em.find(ConsoleSession, whose, {
      orderBy: { id: "desc" },
      limit: mostLive - 1,
      fields: ["id"],
    });
    const displaced = await endWithin(em, { ...whose, id: { $nin: newest.map(({ id }) => id) } });
    const token = newSessionToken(random);
    const cookie = this.#cookieOf(token);
    const session = em.create(ConsoleSession, {
      id: random.uuid(),
      digest: this.#digest(cookie),
      createdAt: now,
      keyIds: [],
      ...owner,
      expiresAt: endsAt ?? new Date(now.getTime() + sessionMs),
    });
    em.persist(session);
    this.filter.add(session.digest);
    return { session, token, cookie, displaced };
  }

  #cookieOf(token: string): string {
    return toCookie(token, this.#parts.operatorToken);
  }

  #digest(token: string): Buffer {
    return toDigest(token, this.#parts.operatorToken);
  }

  #now(): Date {
    return new Date(this.#parts.clock.now());
  }
}

async function endWithin(em: SqlEntityManager, which: FilterQuery<ConsoleSession>): Promise<ConsoleSession[]> {
  const ended = await em.find(ConsoleSession, which, { ...locked, orderBy: { id: "asc" } });
  await em.nativeDelete(ConsoleSession, { id: { $in: ended.map(({ id }) => id) } });
  return ended;
}

function ended(): Error {
  return failure(Reason.UNAUTHENTICATED, "The session has ended.");
}
