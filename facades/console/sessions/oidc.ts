import type { IncomingMessage, ServerResponse } from "node:http";
import { Code } from "@connectrpc/connect";
import { type Dependencies, readReach } from "../dependencies.ts";
import { pendingCookie, readPending, sessionCookie } from "./cookie.ts";
import type { CoreSessions } from "./core.ts";
import { commonRefusals, leadOn, type Refusals, refuse } from "./way-in.ts";

const refusals: Refusals = {
  ...commonRefusals,
  [Code.Unauthenticated]: [401, "You are not signed in"],
  [Code.InvalidArgument]: [404, "There is no such way in"],
};

/** A provider's page, and the one that people come back to. */
const page = /^\/sign-in\/([a-z0-9][a-z0-9-]{0,31})(\/callback)?$/;

/** Whether a browser asks for a page of a provider. It may come from another site. */
export function isOidcPage({ method }: IncomingMessage, path: string): boolean {
  return method === "GET" && page.test(path);
}

/** Sends a browser to the provider of a page, or signs in a person who comes back from it. */
export function answerOidc(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  parts: Dependencies,
  core: CoreSessions,
): Promise<void> {
  const [, provider = "", callback] = page.exec(path) ?? [];
  return callback === undefined
    ? beginOidc(provider, request, response, parts, core)
    : finishOidc(request, response, parts, core);
}

/** Sends a browser to an identity provider, with a cookie that it has to bring back. */
async function beginOidc(
  provider: string,
  request: IncomingMessage,
  response: ServerResponse,
  parts: Dependencies,
  core: CoreSessions,
): Promise<void> {
  const reach = readReach(request, parts);
  const scheme = reach === "tls" ? "https" : "http";
  const { consoleUrl = `${scheme}://${request.headers.host ?? "localhost"}` } = parts;
  try {
    const callback = new URL(`/sign-in/${provider}/callback`, consoleUrl);
    const { authorizationUrl, pending } = await core.beginOidc(provider, callback.href, request);
    response.setHeader("set-cookie", pendingCookie("oidc", pending, request, reach));
    response.writeHead(303, { location: authorizationUrl }).end();
  } catch (error) {
    refuse(response, parts.site, error, refusals);
  }
}

/** Signs in a person who comes back from the provider, and leads on. */
async function finishOidc(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Dependencies,
  core: CoreSessions,
): Promise<void> {
  const reach = readReach(request, parts);
  const forgotten = pendingCookie("oidc", "", request, reach);
  try {
    const callback = new URL(request.url ?? "", "http://console");
    const opened = await core.finishOidc(callback.href, readPending("oidc", request, reach), request);
    response.setHeader("set-cookie", [sessionCookie(opened.cookie, request, reach), forgotten]);
  } catch (error) {
    response.setHeader("set-cookie", forgotten);
    refuse(response, parts.site, error, refusals);
    return;
  }
  leadOn(response, parts.site);
}
