import type { IncomingMessage, ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { type Dependencies, readReach } from "../dependencies.ts";
import { sendNote } from "../pages/note.ts";
import { sessionCookie } from "./cookie.ts";
import type { CoreSessions } from "./core.ts";
import { first, isFetchedAhead } from "./way-in.ts";

type Note = readonly [status: number, title: string, sentence: string];

const refusals: Readonly<Partial<Record<Code, Note>>> = {
  [Code.Unauthenticated]: [
    410,
    "This link was used or is too old",
    "It works once and for ten minutes. For another one run: tollgate console-link",
  ],
  [Code.ResourceExhausted]: [429, "Too many links were followed from here", "Follow the link again in a minute."],
};
const unreachable: Note = [503, "The core cannot be reached", "Follow the link again in a moment."];

/** Signs in a person who follows a link, once, and leads on. Says so when the link was used or is too old. */
export async function followLink(
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
  const from = request.headers["sec-fetch-site"] ?? "none";
  if (from !== "none" && from !== "same-origin") {
    // Another site could otherwise replace somebody's session by one of its own without their notice.
    const sentence = "Another page led here. Go on only if you made this link yourself.";
    sendNote(response, parts.site, 200, "Sign in?", sentence, { link: ["Sign in by this link", ""] });
    return;
  }
  try {
    const opened = await core.redeem(token, request);
    response.setHeader("set-cookie", sessionCookie(opened.cookie, request, readReach(request, parts)));
  } catch (error) {
    const [status, title, sentence] = refusals[ConnectError.from(error).code] ?? unreachable;
    sendNote(response, parts.site, status, title, sentence);
    return;
  }
  response.writeHead(303, { location: first }).end();
}
