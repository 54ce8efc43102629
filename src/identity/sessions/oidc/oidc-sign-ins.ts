import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Seal } from "#lib/ids/sealed.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { OidcSignIn, ProviderChoice } from "./oidc-sign-in.ts";
import { openPending } from "./pending.ts";

/** Sign-in by any number of providers: what a browser brings back says which one it went to. */
export class OidcSignIns {
  readonly #signIns: ReadonlyMap<string, OidcSignIn>;
  readonly #seal: Seal;
  readonly #clock: Pick<Clock, "now">;
  readonly choices: readonly ProviderChoice[];

  constructor(signIns: readonly OidcSignIn[], seal: Seal, clock: Pick<Clock, "now">) {
    this.#signIns = new Map(signIns.map((one) => [one.choice.id, one]));
    this.#seal = seal;
    this.#clock = clock;
    this.choices = signIns.map(({ choice }) => choice);
  }

  /** `id` empty: the first provider. Throws UNSUPPORTED where there is no such provider. */
  begin(id: string, redirectUrl: string) {
    return this.#find(id || (this.choices[0]?.id ?? "")).begin(redirectUrl);
  }

  /** As OidcSignIn.finish. */
  finish(callbackUrl: string, pending: string, address: string) {
    const checks = openPending(this.#seal, pending, this.#clock.now());
    if (checks === undefined) {
      throw failure(Reason.UNAUTHENTICATED, "The sign-in took too long, or was begun in another browser. Begin again.");
    }
    return this.#find(checks.provider).finish(callbackUrl, checks, address);
  }

  #find(id: string): OidcSignIn {
    const found = this.#signIns.get(id);
    if (found === undefined) {
      throw failure(Reason.UNSUPPORTED, "No such provider of identities is configured (sign_in).");
    }
    return found;
  }
}
