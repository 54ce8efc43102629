import { create, type DescMethod } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Authenticator, Principal } from "#src/wire/principal.ts";

/** A key as they are made: nobody guesses one. */
export const drawn = `tg-${"k".repeat(49)}`;
const payer = { kind: "caller", accountId: "acc_1", keyId: "key_1" } as const;
export const caller: Principal = payer;
export const operator: Principal = { kind: "operator", id: "", name: "root", role: Role.OWNER };

/** Knows a key, the operator token and a service token, and counts what it is asked. */
export class FakeAuthenticator implements Authenticator {
  asked = 0;

  async authenticate(credential: string, payingAccountId: string | undefined): Promise<Principal> {
    this.asked += 1;
    switch (credential) {
      case "key":
      case drawn:
        return caller;
      case "viewer":
        return { ...payer, memberRole: MemberRole.VIEWER };
      case "developer":
        return { ...payer, memberRole: MemberRole.DEVELOPER };
      case "person":
        return { ...payer, keyId: "", personId: "per_1", sessionId: "ses_1", memberRole: MemberRole.OWNER };
      case "homeless":
        return { ...payer, accountId: "", keyId: "", personId: "per_1", sessionId: "ses_1", memberRole: 0 };
      case "operator":
        return operator;
      case "billing":
      case "reader":
        return {
          kind: "operator",
          id: "o1",
          name: credential,
          role: credential === "billing" ? Role.BILLING : Role.READER,
        };
      case "service":
        if (payingAccountId === undefined) {
          throw failure(Reason.PERMISSION_DENIED, "Name an account.");
        }
        return { kind: "caller", accountId: payingAccountId, keyId: "" };
      case "down":
        throw failure(Reason.LEDGER_UNAVAILABLE, "Try again.");
      default:
        throw failure(Reason.UNAUTHENTICATED, "Unknown.");
    }
  }
}

/** How a call with an empty request ends. OK and UNIMPLEMENTED both mean that it got past the interceptor. */
export async function codeOf(transport: Transport, method: DescMethod, headers: Record<string, string>) {
  const request = create(method.input);
  try {
    if (method.methodKind === "unary") {
      await transport.unary(method as never, undefined, undefined, headers, request as never);
    } else {
      const requests = (async function* () {
        yield request;
      })();
      const { message } = await transport.stream(method as never, undefined, undefined, headers, requests as never);
      for await (const _message of message) {
        break;
      }
    }
    return "passed";
  } catch (error) {
    const { code } = ConnectError.from(error);
    return code === Code.Unimplemented ? "passed" : Code[code];
  }
}
