import type { IncomingMessage, ServerResponse } from "node:http";
import { Code } from "@connectrpc/connect";
import { type Dependencies, readReach } from "../dependencies.ts";
import { type Answer, sendError } from "./answers.ts";
import { pendingCookie, readPending, sessionCookie } from "./cookie.ts";
import type { CoreSessions } from "./core.ts";
import { readText } from "./read-credential.ts";
import { commonRefusals, isFetchedAhead, leadOn, type Refusals, refuse } from "./way-in.ts";

/** Where a mail's link leads, before its token. */
export const mailPath = "/sign-in/mail/";

const refusals: Refusals = {
  ...commonRefusals,
  [Code.Unauthenticated]: [401, "This link signs nobody in"],
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
  if (isFetchedAhead(request)) {
    response.writeHead(503).end();
    return;
  }
  const reach = readReach(request, parts);
  try {
    const opened = await core.finishMail(token, readPending("mail", request, reach), request);
    const forgotten = pendingCookie("mail", "", request, reach);
    response.setHeader("set-cookie", [sessionCookie(opened.cookie, request, reach), forgotten]);
  } catch (error) {
    refuse(response, parts.site, error, refusals);
    return;
  }
  leadOn(response, parts.site);
}
