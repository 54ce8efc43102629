import type { IncomingMessage, ServerResponse } from "node:http";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { MemberRole, Role } from "#gen/tollgate/access/v1/access_pb.js";
import type { Session } from "#gen/tollgate/sessions/v1/session_pb.js";
import { readDetail } from "#lib/errors/detail.ts";

/** Answers a call of a page. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What a page learns about its session. */
export function toSessionJson(session: Session, facts: object): object {
  return {
    role: session.role === Role.UNSPECIFIED ? "customer" : Role[session.role].toLowerCase(),
    memberRole: session.memberRole === MemberRole.UNSPECIFIED ? "" : MemberRole[session.memberRole].toLowerCase(),
    personId: session.personId,
    name: session.operatorName || session.personName,
    accountId: session.accountId,
    keyId: session.keyId,
    expiresAt: session.expiresAt === undefined ? "" : timestampDate(session.expiresAt).toISOString(),
    ...facts,
  };
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
  });
  response.end(text);
}

const refusals = {
  400: [Code.InvalidArgument, "invalid_argument"],
  401: [Code.Unauthenticated, "unauthenticated"],
  403: [Code.PermissionDenied, "permission_denied"],
  404: [Code.NotFound, "not_found"],
  429: [Code.ResourceExhausted, "resource_exhausted"],
  503: [Code.Unavailable, "unavailable"],
} as const;

/** Answers with an error: a code for programs, a message for people. */
export function sendError(response: ServerResponse, status: keyof typeof refusals, message: string): void {
  sendJson(response, status, { error: { code: refusals[status][1], message } });
}

/** Like sendError, for a page's call, whose client reads errors in the Connect protocol's format. */
export function sendCallError(response: ServerResponse, status: keyof typeof refusals, message: string): void {
  sendJson(response, status, { code: refusals[status][1], message });
}

/** Answers with the core's refusal, or with 503 for an unexpected error. Returns whether it was a refusal. */
export function sendCoreError(response: ServerResponse, reason: unknown): boolean {
  const error = ConnectError.from(reason);
  const found = Object.entries(refusals).find(([, [code]]) => code === error.code);
  const isMeant = found !== undefined && readDetail(error) !== undefined;
  const wait = readDetail(error)?.retryAfter?.seconds;
  if (wait !== undefined && wait > 0n) {
    response.setHeader("retry-after", String(wait));
  }
  if (isMeant) {
    sendError(response, Number(found[0]) as keyof typeof refusals, error.rawMessage);
  } else {
    sendError(response, 503, "The core cannot be reached at the moment. Try again.");
  }
  return isMeant || error.code === Code.Unavailable || error.code === Code.DeadlineExceeded;
}
