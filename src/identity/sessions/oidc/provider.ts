import type { Configuration } from "openid-client";
import { boundedFetch } from "./bounded-fetch.ts";

/** The settings of an identity provider. */
export interface ProviderConfig {
  readonly issuer: string;
  readonly client_id: string;
  readonly scopes: readonly string[];
  /**
   * The values that claims of the ID token must have: one of them, or of several claimed ones at least one. Undefined: any.
   */
  readonly demands?: Readonly<Record<string, readonly string[]>>;
}

/** The values that a sign-in is bound to, so that nobody can bring an answer that belongs to another sign-in. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  /** PKCE: the code alone is useless. */
  readonly verifier: string;
  readonly redirectUrl: string;
}

/** The claims of a checked ID token, which the provider vouches for. */
export type Claims = Readonly<Record<string, unknown>> & { readonly sub: string };

/** Seconds that the provider has for each answer. */
const timeout = 10;
/** Seconds that an ID token may be old, or ahead of this machine's clock. */
const mostAge = 600;

/** Whether an ID token was made just now, by its `iat` in seconds and the time in milliseconds. */
export function isOfNow(iat: number, now: number): boolean {
  return Math.abs(now / 1000 - iat) <= mostAge;
}

/** An identity provider by OpenID Connect: authorization code with PKCE. It is discovered when it is first needed. */
export class Provider {
  readonly #config: ProviderConfig;
  readonly #secret: string | undefined;
  #known: Promise<Configuration> | undefined;

  constructor(config: ProviderConfig, secret: string | undefined) {
    this.#config = config;
    this.#secret = secret;
  }

  /** The provider's page that a browser goes to, and the checks for its answer. */
  async begin(redirectUrl: string): Promise<{ url: string; checks: Checks }> {
    const client = await loadClient();
    const provider = await this.#discover();
    const checks: Checks = {
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      redirectUrl,
    };
    const url = client.buildAuthorizationUrl(provider, {
      redirect_uri: redirectUrl,
      scope: this.#config.scopes.join(" "),
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: "S256",
    });
    return { url: url.href, checks };
  }

  /** The claims that the provider vouches for. Throws when it refuses, or cannot be reached. */
  async finish(callbackUrl: URL, checks: Checks): Promise<Claims> {
    const client = await loadClient();
    const provider = await this.#discover();
    // Only the parameters come from the browser; the page it was sent to is known.
    const current = new URL(checks.redirectUrl);
    current.search = callbackUrl.search;
    const tokens = await client.authorizationCodeGrant(provider, current, {
      expectedState: checks.state,
      expectedNonce: checks.nonce,
      pkceCodeVerifier: checks.verifier,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) {
      throw new Error("the provider sent no ID token");
    }
    if (!isOfNow(claims.iat, Date.now())) {
      throw new Error("the provider's ID token was not made for this sign-in: its iat is not now");
    }
    return claims;
  }

  /** The demanded claim that a person's do not satisfy. Undefined: there is none. */
  findUnmet(claims: Claims): string | undefined {
    const isMet = ([name, wanted]: [string, readonly string[]]) => {
      const claimed: unknown = claims[name];
      const values: readonly unknown[] = Array.isArray(claimed) ? claimed : [claimed];
      return values.some((value) => typeof value === "string" && wanted.includes(value));
    };
    return Object.entries(this.#config.demands ?? {}).find((demand) => !isMet(demand))?.[0];
  }

  #discover(): Promise<Configuration> {
    this.#known ??= this.#ask().catch((error) => {
      this.#known = undefined; // the next call discovers it again
      throw error;
    });
    return this.#known;
  }

  async #ask(): Promise<Configuration> {
    const client = await loadClient();
    const { issuer, client_id } = this.#config;
    const url = new URL(issuer);
    // Checks the signature of ID tokens, too, which the library leaves to TLS otherwise.
    const execute = [client.enableNonRepudiationChecks];
    if (url.protocol === "http:") {
      execute.push(client.allowInsecureRequests); // configured only for a provider on this machine
    }
    const auth = this.#secret === undefined ? client.None() : undefined;
    const options = { execute, timeout, [client.customFetch]: boundedFetch };
    return client.discovery(url, client_id, this.#secret, auth, options);
  }
}

/** What the provider calls its refusal. Empty: the error is none, or has no name. */
export async function readRefusal(error: unknown): Promise<string> {
  const { AuthorizationResponseError, ResponseBodyError } = await loadClient();
  return error instanceof AuthorizationResponseError || error instanceof ResponseBodyError ? error.error : "";
}

/** A service without identity providers does not hold the library in its memory. */
const loadClient = () => import("openid-client");
