import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { Role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { SessionsService } from "#gen/tollgate/sessions/v1/sessions_service_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { invalid } from "#lib/ids/validate-id.ts";
import { isAddress } from "#src/delivery/mail/mail-box.ts";
import type { Entrance } from "#src/identity/people/arrival.ts";
import type { MailSignIn } from "#src/identity/people/mail-sign-in.ts";
import type { PasskeySignIn } from "#src/identity/people/passkeys/passkey-sign-in.ts";
import { readClientAddress } from "#src/wire/interceptors/access/client-address.ts";
import { readTokenHolder } from "#src/wire/interceptors/access/principal.ts";
import type { Operator } from "#src/wire/principal.ts";
import type { Dependencies } from "./dependencies.ts";
import type { Openings } from "./openings.ts";
import { requireRole } from "./require-role.ts";

type Methods = Pick<
  ServiceImpl<typeof SessionsService>,
  | "createSignInLink"
  | "redeemSignInLink"
  | "getSignInOptions"
  | "beginOidcSignIn"
  | "finishOidcSignIn"
  | "beginPasskeySignUp"
  | "finishPasskeySignUp"
  | "beginPasskeySignIn"
  | "finishPasskeySignIn"
  | "beginMailSignIn"
  | "finishMailSignIn"
>;

/** The ways to sign in: links, identity providers, passkeys and mail. */
export function createSignInMethods(deps: Dependencies, { opened, openedBy }: Openings): Methods {
  const { sessions } = deps;

  const openedFor = async (entrance: Entrance) =>
    opened(await sessions.create({ role: null, operatorId: null, keyId: null, ...entrance }));

  const callOf = ({ requestHeader: header, values: contextValues, method }: HandlerContext) => ({
    address: readClientAddress({ header, contextValues }, deps.trusts),
    method: `${SessionsService.typeName}/${method.name}`,
  });

  const requirePasskeys = (): PasskeySignIn => {
    if (deps.passkeys === undefined) {
      throw failure(Reason.UNSUPPORTED, "There are no passkeys here (sign_in.passkeys).");
    }
    return deps.passkeys;
  };

  const requireMail = (): MailSignIn => {
    if (deps.mailSignIn === undefined) {
      throw failure(Reason.UNSUPPORTED, "Nobody signs in by mail here (mail and site.address).");
    }
    return deps.mailSignIn;
  };

  return {
    async createSignInLink({ role }, context) {
      const operator = readTokenHolder(context);
      const wanted = role === Role.UNSPECIFIED ? operator.role : role;
      const named = requireRole(deps, wanted);
      requireAtMost(wanted, operator);
      const { token, expiresAt } = await sessions.createLink({ role: named, operatorId: operator.id || null });
      const { requestHeader: header, values: contextValues } = context;
      await deps.note({
        operator: operator.name,
        operatorId: operator.id || null,
        keyId: null,
        method: `${SessionsService.typeName}/${context.method.name}`,
        target: "",
        before: undefined,
        after: { role: Role[wanted] },
        address: readClientAddress({ header, contextValues }, deps.trusts),
      });
      return { token, expiresAt: timestampFromDate(expiresAt) };
    },

    async redeemSignInLink({ token }, context) {
      return openedBy(await sessions.redeem(token), context);
    },

    async getSignInOptions() {
      const { choices } = deps.oidc;
      return {
        oidcName: choices.find((one) => !one.forOperators)?.name ?? "",
        providers: [...choices],
        passkeyHost: (await deps.passkeys?.readHost()) ?? "",
        signUp: deps.isSignUpOpen,
        mail: deps.mailSignIn !== undefined,
      };
    },

    beginOidcSignIn: ({ provider, redirectUrl }) => deps.oidc.begin(provider, redirectUrl),

    async finishOidcSignIn({ callbackUrl, pending }, context) {
      const { requestHeader: header, values: contextValues } = context;
      const address = readClientAddress({ header, contextValues }, deps.trusts);
      return openedBy(await sessions.create(await deps.oidc.finish(callbackUrl, pending, address)), context);
    },

    beginPasskeySignUp: ({ name }) => requirePasskeys().beginSignUp(name),

    async finishPasskeySignUp({ credentialJson, pending }, context) {
      return openedFor(await requirePasskeys().finishSignUp(credentialJson, pending, callOf(context)));
    },

    beginPasskeySignIn: () => requirePasskeys().begin(),

    async finishPasskeySignIn({ credentialJson, pending }, context) {
      return openedFor(await requirePasskeys().finish(credentialJson, pending, callOf(context)));
    },

    beginMailSignIn({ email }, context) {
      if (!isAddress(email)) {
        throw invalid("email", "email must be an e-mail address.");
      }
      return requireMail().begin(email, callOf(context).address);
    },

    async finishMailSignIn({ token, pending }, context) {
      return openedFor(await requireMail().finish(token, pending, callOf(context)));
    },
  };
}

function requireAtMost(wanted: Role, { name, role }: Operator): void {
  if (wanted > role) {
    throw failure(
      Reason.PERMISSION_DENIED,
      `The operator ${name} has the role ${Role[role].toLowerCase()} and gives no higher one.`,
    );
  }
}
