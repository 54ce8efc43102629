import type { IncomingMessage, ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import type { SiteFacts } from "../../http/site/facts.ts";
import { sendNote } from "../pages/note.ts";

/** The page to which each way in leads. */
export const first = "/overview";

/** The status and heading of the page that refuses somebody, by the core's code. */
export type Refusals = Readonly<Partial<Record<Code, readonly [status: number, title: string]>>>;

/** What every way in that begins elsewhere refuses alike. */
export const commonRefusals: Refusals = {
  [Code.PermissionDenied]: [403, "You have no account here"],
  [Code.ResourceExhausted]: [429, "Too many sign-ins"],
};

/** Whether a link that works once is asked for without its user, as browsers that fetch ahead do. It would be used up. */
export function isFetchedAhead({ method, headers }: IncomingMessage): boolean {
  return method !== "GET" || /prefetch|prerender/.test(String(headers["sec-purpose"] ?? ""));
}

/** Leads on by a page of our own: redirects and links from elsewhere omit the session's cookie. */
export function leadOn(response: ServerResponse, site: SiteFacts): void {
  const head = `<meta http-equiv="refresh" content="0;url=${first}">`;
  sendNote(response, site, 200, "Signed in", "The console opens.", { head });
}

/** Says why nobody is signed in, and leads to the ways in. */
export function refuse(response: ServerResponse, site: SiteFacts, error: unknown, refusals: Refusals): void {
  const { code, rawMessage } = ConnectError.from(error);
  const [status, title] = refusals[code] ?? [503, "The sign-in failed"];
  const sentence = status === 503 ? "Try again in a moment." : rawMessage;
  sendNote(response, site, status, title, sentence, { link: ["To the sign-in page", "/sign-in"] });
}
