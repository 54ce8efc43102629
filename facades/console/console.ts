import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { Code, ConnectError } from "@connectrpc/connect";
import { CatalogueService } from "#gen/tollgate/catalogue/v1/catalogue_service_pb.js";
import { systemRandom } from "#lib/ids/random.ts";
import { newRequestId } from "#lib/ids/request-id.ts";
import { requestIdHeader } from "#lib/rpc/call-headers.ts";
import { createClient } from "#lib/rpc/client.ts";
import { readAll } from "#lib/rpc/pages.ts";
import { renderHome } from "../http/site/home.ts";
import { renderPage } from "../http/site/layout.ts";
import { wantsPage } from "../http/site/page.ts";
import { sendFile } from "../http/site/static-files.ts";
import { createHeaders, createStyle } from "../http/site/style.ts";
import { callPaths } from "./calls/forward.ts";
import { isSameOrigin } from "./calls/same-origin.ts";
import { type Dependencies, readReach } from "./dependencies.ts";
import { nameIndex } from "./pages/index-page.ts";
import { sendNote } from "./pages/note.ts";
import { isPage } from "./pages/page-paths.ts";
import { setSecurityHeaders } from "./pages/security-headers.ts";
import { sendCallError, sendError } from "./sessions/answers.ts";
import { readToken } from "./sessions/cookie.ts";
import { CoreSessions } from "./sessions/core.ts";
import { followLink } from "./sessions/link.ts";
import { followMail, mailPath } from "./sessions/mail.ts";
import { answerOidc, isOidcPage } from "./sessions/oidc.ts";
import { createSessionCalls } from "./sessions/session-calls.ts";

/** `/package.Service/Method`. No page has a dot in the first part of its path. */
const callPath = /^\/[\w]+(\.[\w]+)+\/[\w]+$/;

/** Links that sign in, each with what its path begins with; a token follows. */
const links = [
  { start: "/link/", follow: followLink },
  { start: mailPath, follow: followMail },
];

/** Serves the console under one origin: its pages, sign-in, the core's calls and the playground. */
export function createConsole(parts: Dependencies): RequestListener {
  const core = new CoreSessions(parts.transport, parts.isTrustedProxy);
  const files = nameIndex(parts.files, parts.site);
  const sessionCalls = createSessionCalls(parts, core);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "/";
    const [path = "/"] = url.split("?", 1);
    const sessionCall = sessionCalls.get(`${request.method} ${path}`);
    if (sessionCall !== undefined) {
      return sessionCall(request, response);
    }
    if (isOidcPage(request, path)) {
      return answerOidc(path, request, response, parts, core);
    }
    const link = links.find(({ start }) => path.startsWith(start));
    if (link !== undefined) {
      return link.follow(path.slice(link.start.length), request, response, parts, core);
    }
    if (callPath.test(path)) {
      return serveCall(path, request, response);
    }
    if (path.startsWith("/v1/")) {
      return servePlayground(request, response);
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.setHeader("allow", "GET, HEAD");
      return sendNote(response, parts.site, 405, "Not allowed", "This address is only read.");
    }
    return servePage(path, request, response);
  }

  async function serveCall(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reach = readReach(request, parts);
    const token = readToken(request, reach);
    if (token === undefined) {
      return sendCallError(response, 401, "Nobody is signed in.");
    }
    if (!isSameOrigin(request, reach)) {
      return sendCallError(response, 403, "This call is for pages of the console itself.");
    }
    if (request.method !== "POST" || request.headers["connect-protocol-version"] !== "1") {
      return sendCallError(response, 403, "This call needs POST and the header connect-protocol-version: 1.");
    }
    if (!callPaths.has(path)) {
      const { kind } = await core.read(token, request);
      return kind === "ended"
        ? sendCallError(response, 401, "The session has ended.")
        : sendCallError(response, 403, "No role may make this call here.");
    }
    replaceCookie(request, core.headersFor(request, token));
    parts.calls(request, response);
  }

  async function servePlayground(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reach = readReach(request, parts);
    if (!isSameOrigin(request, reach)) {
      return sendError(response, 403, "The playground is for pages of the console itself.");
    }
    const { kind } = await core.read(readToken(request, reach), request);
    if (kind === "ended") {
      return sendError(response, 401, "Nobody is signed in.");
    }
    delete request.headers.cookie;
    parts.surfaces(request, response);
  }

  /** Whether nobody is signed in, or the session has ended. */
  async function hasEnded(request: IncomingMessage): Promise<boolean> {
    const { kind } = await core.read(readToken(request, readReach(request, parts)), request);
    return kind === "ended";
  }

  async function servePage(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (path !== "/index.html" && sendFile(files, path.slice(1), request, response)) {
      return;
    }
    if (!isPage(path)) {
      const link = ["To the first page", "/"] as const;
      return sendNote(response, parts.site, 404, "There is no such page", "Nothing is at this address.", { link });
    }
    if (path !== "/sign-in" && (await hasEnded(request))) {
      return path === "/" ? serveHome(request, response, parts, core) : redirectToSignIn(request, response);
    }
    if (!sendFile(files, "index.html", request, response)) {
      sendNote(response, parts.site, 503, "The console was not built", "Run npm run build:console and start again.");
    }
  }

  return (request, response) => {
    request.headers[requestIdHeader] = newRequestId(systemRandom); // by which the core and the log know it, too
    setSecurityHeaders(response, readReach(request, parts));
    serve(request, response).catch((error: unknown) => {
      if (ConnectError.from(error).code === Code.ResourceExhausted && !response.headersSent) {
        return sendNote(response, parts.site, 429, "Too many pages were opened from here", "Try again in a minute.");
      }
      parts.logger.error({ err: error }, "a request failed unexpectedly");
      if (response.headersSent) {
        response.destroy();
      } else {
        sendError(response, 503, "The console failed. Try again.");
      }
    });
  };
}

/** Serves the public page, with a link to sign in. */
async function serveHome(
  request: IncomingMessage,
  response: ServerResponse,
  { transport, facts, surfaces, site }: Dependencies,
  core: CoreSessions,
): Promise<void> {
  if (!wantsPage(request)) {
    delete request.headers.cookie;
    surfaces(request, response);
    return;
  }
  const catalogue = createClient(CatalogueService, transport);
  const models = await readAll(
    (page) => catalogue.listModels(page, { headers: core.headersFor(request) }),
    ({ models }) => models,
  );
  const prices = await catalogue.listPriceDays({}, { headers: core.headersFor(request) });
  const reach = { baseUrl: facts.publicUrl, pages: facts.publicUrl, signIn: "/sign-in" };
  const css = createStyle(site);
  const html = renderPage(renderHome(models, prices.models, reach), site, css, reach);
  response.writeHead(200, { ...createHeaders(css), "content-length": String(Buffer.byteLength(html)) });
  response.end(request.method === "HEAD" ? undefined : html);
}

function redirectToSignIn(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(303, { location: `/sign-in?next=${encodeURIComponent(request.url ?? "/")}` }).end();
}

/** Replaces a call's cookie by the session's credential, and removes headers that only this facade may set. */
function replaceCookie(request: IncomingMessage, headers: Record<string, string>): void {
  for (const name of Object.keys(request.headers)) {
    if (name === "cookie" || name === "authorization" || name.startsWith("x-tollgate-")) {
      delete request.headers[name];
    }
  }
  Object.assign(request.headers, headers);
}
