import { hash } from "node:crypto";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { PendingSeal } from "#lib/ids/pending.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { isPrintable } from "#lib/text/printable.ts";
import { type ProviderConfig, toProviders } from "#src/config/providers.ts";
import type { Arrival } from "#src/identity/people/arrival.ts";
import type { SignUp } from "#src/identity/people/sign-up.ts";
import { readName } from "#src/identity/sessions/oidc/name.ts";
import { type BegunOidc, OidcSignIn } from "#src/identity/sessions/oidc/oidc-sign-in.ts";
import { OidcSignIns } from "#src/identity/sessions/oidc/oidc-sign-ins.ts";
import { type Claims, Provider } from "#src/identity/sessions/oidc/provider.ts";
import type { Owner } from "#src/identity/sessions/sessions.ts";
import { operatorRoles } from "#src/storage/entities/operators/operator.ts";
import type { Foundation } from "../foundation.ts";

const method = `${SessionsService.typeName}/${SessionsService.method.finishOidcSignIn.name}`;

/** The longest e-mail address (RFC 5321). */
const longestEmail = 254;

/** Dependencies. */
interface Dependencies {
  readonly signUp: Pick<SignUp, "enter" | "identify" | "find">;
  /** Ends the operator's sessions of a person that have more than a role, which is null for none. */
  readonly endOperator: (personId: string, role: (typeof operatorRoles)[number] | null) => Promise<void>;
}

/** Sign-in by the configured identity providers. */
export function composeSignIns(foundation: Foundation, { signUp, endOperator }: Dependencies): OidcSignIns {
  const { config, secrets, clock, random, logger } = foundation;
  const pending = new PendingSeal<BegunOidc>("oidc", createSeal(secrets.peppers, random), clock);
  const enterCustomer = async (arrival: Arrival): Promise<Owner> => {
    const { personId, accountId } = await signUp.enter(arrival);
    return { role: null, operatorId: null, accountId, keyId: null, personId };
  };
  const enterOperator = async (arrival: Arrival, role: (typeof operatorRoles)[number] | null): Promise<Owner> => {
    const known = await signUp.find(arrival);
    if (known !== undefined) {
      await endOperator(known, role); // what another group opened ends with it
    }
    if (role === null) {
      throw failure(Reason.PERMISSION_DENIED, "You are in no group of this service's operators.");
    }
    const personId = await signUp.identify(arrival);
    return { role, operatorId: null, accountId: null, keyId: null, personId };
  };
  const all = toProviders(config.sign_in).map(
    (provider) =>
      new OidcSignIn({
        provider: new Provider(provider, secrets.oidcClientSecrets.get(provider.id)),
        choice: {
          id: provider.id,
          name: provider.name ?? new URL(provider.issuer).host,
          forOperators: provider.kind === "operators",
        },
        enter: (claims, address) => {
          const arrival = toArrival(provider, claims, address);
          return provider.kind === "operators"
            ? enterOperator(arrival, readRole(claims[provider.group_claim], provider.groups))
            : enterCustomer(arrival);
        },
        pending,
        clock,
        logger,
      }),
  );
  return new OidcSignIns(all, pending);
}

function toArrival(provider: ProviderConfig, claims: Claims, address: string): Arrival {
  const { issuer } = provider;
  const { email, email_verified } = claims;
  const claimed = provider.kind === "customers" && provider.account_claim ? claims[provider.account_claim] : undefined;
  return {
    kind: "oidc",
    issuer,
    subject: claims.sub,
    name: readName(claims),
    email: typeof email === "string" && email.length <= longestEmail && isPrintable(email) ? email : null,
    emailVerified: email_verified === true,
    claimed: claimed === undefined ? undefined : String(claimed),
    madeBy: `oidc-${hash("sha256", `${issuer}\n${claims.sub}`)}`,
    address,
    method,
  };
}

/** The highest role of somebody's groups. Null: none of them has one. */
function readRole(
  claim: unknown,
  groups: Readonly<Record<string, (typeof operatorRoles)[number] | "support">>,
): (typeof operatorRoles)[number] | null {
  const held = new Set(
    [claim]
      .flat()
      .map((group) => (typeof group === "string" && Object.hasOwn(groups, group) ? groups[group] : undefined)),
  );
  return operatorRoles.findLast((role) => held.has(role)) ?? (held.has("support") ? "reader" : null);
}
