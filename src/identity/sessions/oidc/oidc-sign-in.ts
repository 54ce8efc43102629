import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { NetworkCounts } from "#lib/door/counts/network-counts.ts";
import { Windows } from "#lib/door/counts/windows.ts";
import { failure } from "#lib/errors/failure.ts";
import { type PendingSeal, pendingMs } from "#lib/ids/pending.ts";
import type { Logger } from "#lib/logger.ts";
import { toNetwork, toWiderNetwork } from "#lib/net/network.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Owner } from "../sessions.ts";
import { type Checks, type Claims, type Provider, readRefusal } from "./provider.ts";

/** The most calls of the provider at once, and of a network and the one around it. Others are told to try again. */
const mostAtOnce = { total: 32, network: 4, wider: 8 };
/** The used sign-ins that are remembered. */
const mostUsed = 20_000;

/** A provider of identities, as people choose it. */
export interface ProviderChoice {
  /** Its name in addresses. */
  readonly id: string;
  readonly name: string;
  readonly forOperators: boolean;
}

/** What was begun. */
export interface BegunOidc extends Checks {
  /** The id of the provider. */
  readonly provider: string;
}

interface Dependencies {
  readonly provider: Pick<Provider, "begin" | "finish" | "findUnmet">;
  readonly choice: ProviderChoice;
  /** Whose session is opened for a person that the provider vouches for. Throws PERMISSION_DENIED. */
  readonly enter: (claims: Claims, address: string) => Promise<Owner>;
  readonly pending: PendingSeal<BegunOidc>;
  readonly clock: Pick<Clock, "now">;
  readonly logger: Logger;
}

/** Sign-in by one identity provider, which identifies the person. */
export class OidcSignIn {
  readonly #parts: Dependencies;
  readonly #used = new Windows(pendingMs, mostUsed);
  readonly #networks = new NetworkCounts();
  #underWay = 0;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  get choice(): ProviderChoice {
    return this.#parts.choice;
  }

  async begin(redirectUrl: string): Promise<{ authorizationUrl: string; pending: string }> {
    if (!/^https?:$/.test(URL.parse(redirectUrl)?.protocol ?? "")) {
      throw failure(Reason.INVALID_ARGUMENT, "redirect_url must be an http address.", { parameter: "redirect_url" });
    }
    const { provider, pending, choice } = this.#parts;
    // Takes no place: the provider is asked about itself once for all, and who begins may never come back.
    const { url, checks } = await this.#explain(() => provider.begin(redirectUrl));
    return { authorizationUrl: url, pending: pending.close({ ...checks, provider: choice.id }) };
  }

  /**
   * Whose session is opened for the person that the provider vouches for. A sign-in that was begun can be finished once, whatever
   * comes of it. `address`: the browser's. Throws UNAUTHENTICATED, PERMISSION_DENIED, OVERLOADED.
   */
  async finish(callbackUrl: string, checks: BegunOidc, address: string): Promise<Owner> {
    const { provider, clock, enter } = this.#parts;
    const callback = URL.parse(callbackUrl);
    // What one provider answers is not taken for another one's answer.
    if (callback === null || callback.pathname !== URL.parse(checks.redirectUrl)?.pathname) {
      throw failure(Reason.UNAUTHENTICATED, "This is no answer to the sign-in that this browser began. Begin again.");
    }
    const leave = this.#enter(address);
    try {
      if (this.#used.count(checks.state, 1, clock.now()) !== undefined) {
        throw failure(Reason.UNAUTHENTICATED, "This sign-in was finished before. Begin again.");
      }
      const claims = await this.#explain(() => provider.finish(callback, checks));
      const unmet = provider.findUnmet(claims);
      if (unmet !== undefined) {
        const { name } = this.#parts.choice;
        throw failure(Reason.PERMISSION_DENIED, `You may not sign in here: ${name} says otherwise by ${unmet}.`);
      }
      return await enter(claims, address);
    } finally {
      leave();
    }
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
      const { logger, choice } = this.#parts;
      const { name } = choice;
      logger.warn({ err: error, provider: name }, "a sign-in with the provider of identities failed");
      if (error instanceof TypeError || isTimeout(error)) {
        throw failure(Reason.OVERLOADED, `${name} cannot be reached at the moment. Try again.`);
      }
      const why = await readRefusal(error);
      throw failure(Reason.UNAUTHENTICATED, `${name} did not sign you in${why && ` (${why})`}. Begin again.`);
    }
  }
}

function isTimeout(error: unknown): boolean {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return code === "OAUTH_TIMEOUT" || name === "TimeoutError";
}
