import { hash } from "node:crypto";
import { AuthorizationResponseError, ResponseBodyError } from "openid-client";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { NetworkCounts } from "#lib/door/network-counts.ts";
import { Windows } from "#lib/door/windows.ts";
import { failure } from "#lib/errors/failure.ts";
import type { Logger } from "#lib/logger.ts";
import { toNetwork, toWiderNetwork } from "#lib/net/network.ts";
import type { Seal } from "#lib/sealed.ts";
import type { Clock } from "#lib/time/clock.ts";
import { openPending, sealPending } from "./pending.ts";
import type { Claims, Provider } from "./provider.ts";

/** The most calls of the provider at once, and of a network and the one around it. Others are told to try again. */
const mostAtOnce = { total: 32, network: 4, wider: 8 };
/** For so long a used sign-in is remembered, as long as one may take. */
const usedMs = 600_000;
/** The used sign-ins that are remembered. */
const mostUsed = 20_000;
const longestName = 200;

interface Dependencies {
  readonly provider: Pick<Provider, "begin" | "finish">;
  readonly issuer: string;
  readonly name: string;
  /** The claim that holds an account's id. Undefined: none does. */
  readonly accountClaim: string | undefined;
  /** Whether a new person gets an account. */
  readonly createsAccounts: boolean;
  /** The account that was made for an identity, by the id of the request that made it. Undefined: none was made. */
  readonly findMade: (requestId: string) => Promise<string | undefined>;
  /** True when the account exists. */
  readonly exists: (accountId: string) => Promise<boolean>;
  /** Makes an account, once for each request id. */
  readonly create: (name: string, requestId: string) => Promise<string>;
  readonly seal: Seal;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** Sign-in by an identity provider: the provider identifies the person, and this class finds the person's account. */
export class OidcSignIn {
  readonly #parts: Dependencies;
  readonly #used = new Windows(usedMs, mostUsed);
  readonly #networks = new NetworkCounts();
  #underWay = 0;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.name;
  }

  async begin(redirectUrl: string): Promise<{ authorizationUrl: string; pending: string }> {
    if (!/^https?:$/.test(URL.parse(redirectUrl)?.protocol ?? "")) {
      throw failure(Reason.INVALID_ARGUMENT, "redirect_url must be an http address.", { parameter: "redirect_url" });
    }
    const { provider, seal, clock } = this.#parts;
    // Takes no place: the provider is asked about itself once for all, and who begins may never come back.
    const { url, checks } = await this.#explain(() => provider.begin(redirectUrl));
    return { authorizationUrl: url, pending: sealPending(seal, checks, clock.now()) };
  }

  /**
   * The account of the person that the provider vouches for. A sign-in that was begun can be finished once, whatever
   * comes of it. `address`: the browser's. Throws UNAUTHENTICATED, PERMISSION_DENIED, OVERLOADED.
   */
  async finish(callbackUrl: string, pending: string, address: string): Promise<string> {
    const { provider, seal, clock } = this.#parts;
    const checks = openPending(seal, pending, clock.now());
    const callback = URL.parse(callbackUrl);
    if (checks === undefined || callback === null) {
      throw failure(Reason.UNAUTHENTICATED, "The sign-in took too long, or was begun in another browser. Begin again.");
    }
    const leave = this.#enter(address);
    try {
      if (this.#used.count(checks.state, 1, clock.now()) !== undefined) {
        throw failure(Reason.UNAUTHENTICATED, "This sign-in was finished before. Begin again.");
      }
      return await this.#findAccount(await this.#explain(() => provider.finish(callback, checks)));
    } finally {
      leave();
    }
  }

  async #findAccount(claims: Claims): Promise<string> {
    const { accountClaim, createsAccounts, issuer, exists, findMade, create } = this.#parts;
    const claimed = accountClaim === undefined ? undefined : claims[accountClaim];
    if (typeof claimed === "string" && (await exists(claimed))) {
      return claimed;
    }
    const requestId = `oidc-${hash("sha256", `${issuer}\n${claims.sub}`)}`;
    const made = await findMade(requestId);
    if (made !== undefined) {
      return made;
    }
    if (!createsAccounts || claimed !== undefined) {
      throw failure(Reason.PERMISSION_DENIED, "You have no account here. Ask whoever runs this service for one.");
    }
    return create(readName(claims), requestId);
  }

  /** Takes a place for a call of the provider. Returns the function that gives it back. Throws OVERLOADED. */
  #enter(address: string): () => void {
    const [own, wider] = [toNetwork(address), toWiderNetwork(address)];
    const around = `around ${wider}`;
    const isRoom = this.#underWay < mostAtOnce.total && this.#networks.add(own, mostAtOnce.network);
    if (isRoom && this.#networks.add(around, mostAtOnce.wider)) {
      this.#underWay += 1;
      return () => {
        this.#underWay -= 1;
        this.#networks.remove(own);
        this.#networks.remove(around);
      };
    }
    if (isRoom) {
      this.#networks.remove(own);
    }
    throw failure(Reason.OVERLOADED, "Many people sign in at the moment. Try again.");
  }

  /** Asks the provider. Throws UNAUTHENTICATED when it refuses, OVERLOADED when it cannot be reached. */
  async #explain<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    try {
      return await question();
    } catch (error) {
      const { logger, name } = this.#parts;
      logger.warn({ err: error, provider: name }, "a sign-in with the provider of identities failed");
      if (error instanceof TypeError || isTimeout(error)) {
        throw failure(Reason.OVERLOADED, `${name} cannot be reached at the moment. Try again.`);
      }
      const why = error instanceof AuthorizationResponseError || error instanceof ResponseBodyError ? error.error : "";
      throw failure(Reason.UNAUTHENTICATED, `${name} did not sign you in${why && ` (${why})`}. Begin again.`);
    }
  }
}

function isTimeout(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return code === "OAUTH_TIMEOUT" || name === "TimeoutError";
}

function readName({ name, email, preferred_username, sub }: Claims): string {
  const found = [name, email, preferred_username].find((text) => typeof text === "string" && text.trim() !== "");
  return String(found ?? sub)
    .replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "")
    .slice(0, longestName);
}
