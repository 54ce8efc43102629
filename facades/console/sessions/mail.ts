import type { IncomingMessage, ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Dependencies, readReach } from "../dependencies.ts";
import { sendNote } from "../pages/note.ts";
import { type Answer, sendError } from "./answers.ts";
import { pendingCookie, readPending, sessionCookie } from "./cookie.ts";
import type { CoreSessions } from "./core.ts";
import { readText } from "./read-credential.ts";

const first = "/overview";

/** Where a mail's link leads, before its token. */
export const mailPath = "/sign-in/mail/";

const refusals: Readonly<Partial<Record<Code, readonly [number, string]>>> = {
  [Code.Unauthenticated]: [401, "This link signs nobody in"],
  [Code.PermissionDenied]: [403, "You have no account here"],
  [Code.ResourceExhausted]: [429, "Too many sign-ins"],
};

/** Has a link mailed, with a cookie that the same browser has to bring back. */
export function askForMail(parts: Dependencies, core: CoreSessions): Answer {
  return async (request, response) => {
    const email = await readText(request, "email");
    if (email === undefined) {
      return sendError(response, 400, 'The body must be JSON: {"email": "…"}.');
    }
    const { pending } = await core.beginMail(email, request);
    response.setHeader("set-cookie", pendingCookie("mail", pending, request, readReach(request, parts)));
    response.writeHead(204).end();
  };
}

/** Signs in a person who follows a mail's link in the browser that asked for it, and leads on. */
export async function followMail(
  token: string,
  request: IncomingMessage,
  response: ServerResponse,
  parts: Dependencies,
  core: CoreSessions,
): Promise<void> {
  // A browser that prefetches pages does so without the user, and would use the link up.
  if (request.method !== "GET" || /prefetch|prerender/.test(String(request.headers["sec-purpose"] ?? ""))) {
    response.writeHead(503).end();
    return;
  }
  const reach = readReach(request, parts);
  try {
    const opened = await core.finishMail(token, readPending("mail", request, reach), request);
    const forgotten = pendingCookie("mail", "", request, reach);
    response.setHeader("set-cookie", [sessionCookie(opened.cookie, request, reach), forgotten]);
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    const [status, title] = refusals[code] ?? [503, "The sign-in failed"];
    sendNote(response, status, title, status === 503 ? "Try again in a moment." : rawMessage);
    return;
  }
  // Pages of mails lead here without the session's cookie: a page of our own leads on.
  const head = `<meta http-equiv="refresh" content="0;url=${first}">`;
  sendNote(response, 200, "Signed in", "The console opens.", { head });
}
