import type { IncomingMessage, ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Dependencies, readReach } from "../dependencies.ts";
import { sendNote } from "../pages/note.ts";
import { pendingCookie, readPending, sessionCookie } from "./cookie.ts";
import type { CoreSessions } from "./core.ts";

/** The path to which the identity provider sends a browser back. */
export const callbackPath = "/sign-in/oidc/callback";
const first = "/overview";

const refusals: Readonly<Partial<Record<Code, readonly [number, string]>>> = {
  [Code.Unauthenticated]: [401, "You are not signed in"],
  [Code.PermissionDenied]: [403, "You have no account here"],
  [Code.InvalidArgument]: [404, "There is no such way in"],
};

/** Sends a browser to the identity provider, with a cookie that it has to bring back. */
export async function beginOidc(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Dependencies,
  core: CoreSessions,
): Promise<void> {
  const reach = readReach(request, parts);
  const scheme = reach === "tls" ? "https" : "http";
  const origin = `${scheme}://${request.headers.host ?? "localhost"}`;
  try {
    const { authorizationUrl, pending } = await core.beginOidc(origin + callbackPath, request);
    response.setHeader("set-cookie", pendingCookie(pending, request, reach));
    response.writeHead(303, { location: authorizationUrl }).end();
  } catch (error) {
    refuse(response, error);
  }
}

/** Signs in a person who comes back from the provider, and leads on. */
export async function finishOidc(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Dependencies,
  core: CoreSessions,
): Promise<void> {
  const reach = readReach(request, parts);
  const forgotten = pendingCookie("", request, reach);
  try {
    const callback = new URL(request.url ?? "", "http://console");
    const opened = await core.finishOidc(callback.href, readPending(request, reach), request);
    response.setHeader("set-cookie", [sessionCookie(opened.token, request, reach), forgotten]);
  } catch (error) {
    response.setHeader("set-cookie", forgotten);
    refuse(response, error);
    return;
  }
  // Redirects from the provider omit the session's cookie: a page of our own leads on.
  const head = `<meta http-equiv="refresh" content="0;url=${first}">`;
  sendNote(response, 200, "Signed in", "The console opens.", head);
}

function refuse(response: ServerResponse, reason: unknown): void {
  const { code, rawMessage } = ConnectError.from(reason);
  const [status, title] = refusals[code] ?? [503, "The sign-in failed"];
  sendNote(response, status, title, status === 503 ? "Try again in a moment." : rawMessage);
}
