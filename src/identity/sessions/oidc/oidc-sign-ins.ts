import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { PendingSeal } from "#lib/ids/pending.ts";
import type { BegunOidc, OidcSignIn, ProviderChoice } from "./oidc-sign-in.ts";

/** Sign-in by any number of providers: what a browser brings back says which one it went to. */
export class OidcSignIns {
  readonly #signIns: ReadonlyMap<string, OidcSignIn>;
  readonly #pending: Pick<PendingSeal<BegunOidc>, "open">;
  readonly choices: readonly ProviderChoice[];

  constructor(signIns: readonly OidcSignIn[], pending: Pick<PendingSeal<BegunOidc>, "open">) {
    this.#signIns = new Map(signIns.map((one) => [one.choice.id, one]));
    this.#pending = pending;
    this.choices = signIns.map(({ choice }) => choice);
  }

  /** `id` empty: the first provider. Throws UNSUPPORTED where there is no such provider. */
  begin(id: string, redirectUrl: string) {
    return this.#find(id || (this.choices[0]?.id ?? "")).begin(redirectUrl);
  }

  /** As OidcSignIn.finish. */
  finish(callbackUrl: string, pending: string, address: string) {
    const begun = this.#pending.open(pending);
    if (begun === undefined) {
      throw failure(Reason.UNAUTHENTICATED, "The sign-in took too long, or was begun in another browser. Begin again.");
    }
    return this.#find(begun.facts.provider).finish(callbackUrl, begun.facts, address);
  }

  #find(id: string): OidcSignIn {
    const found = this.#signIns.get(id);
    if (found === undefined) {
      throw failure(Reason.UNSUPPORTED, "No such provider of identities is configured (sign_in).");
    }
    return found;
  }
}
