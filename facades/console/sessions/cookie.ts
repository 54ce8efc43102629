import type { IncomingMessage } from "node:http";
import type { Reach } from "../dependencies.ts";

/** The length of a session, in seconds. */
const maxAge = 43_200;
const secureName = "__Host-tollgate";
const plainName = "tollgate";

/** The session's credential in a browser's cookie. Undefined: there is none, or it cannot be one. */
export function readToken(request: IncomingMessage, reach: Reach): string | undefined {
  const name = isPlain(request, reach) ? plainName : secureName;
  for (const pair of (request.headers.cookie ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name && value !== undefined && /^tgco_[0-9A-Za-z]{49}$/.test(value)) {
      return value;
    }
  }
  return undefined;
}

/** The `set-cookie` header that gives a browser its session. An empty one removes it. */
export function sessionCookie(token: string, request: IncomingMessage, reach: Reach): string {
  const life = token === "" ? 0 : maxAge;
  const attributes = `Path=/; Max-Age=${life}; HttpOnly; SameSite=Strict`;
  return isPlain(request, reach)
    ? `${plainName}=${token}; ${attributes}`
    : `${secureName}=${token}; ${attributes}; Secure`;
}

/** What a browser leaves the console for, and comes back from: a provider's page, or its owner's mails. */
export type Detour = "oidc" | "mail";
/** Seconds that it may take. */
const pendingAge = 600;

/** What a browser brings back. Empty: nothing. */
export function readPending(detour: Detour, request: IncomingMessage, reach: Reach): string {
  const pendingName = `tollgate-${detour}`;
  const name = isPlain(request, reach) ? pendingName : `__Host-${pendingName}`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? "";
}

/** The `set-cookie` header that keeps it meanwhile: lax, as a page elsewhere leads back. Empty removes it. */
export function pendingCookie(detour: Detour, pending: string, request: IncomingMessage, reach: Reach): string {
  const pendingName = `tollgate-${detour}`;
  const life = pending === "" ? 0 : pendingAge;
  const attributes = `Path=/; Max-Age=${life}; HttpOnly; SameSite=Lax`;
  return isPlain(request, reach)
    ? `${pendingName}=${pending}; ${attributes}`
    : `__Host-${pendingName}=${pending}; ${attributes}; Secure`;
}

/**
 * Whether a browser would refuse a `Secure` cookie: any browser over plain HTTP, and WebKit also on this machine, where
 * other browsers treat plain HTTP as secure.
 */
export function isPlain(request: IncomingMessage, reach: Reach): boolean {
  switch (reach) {
    case "tls":
      return false;
    case "insecure":
      return true;
    case "loopback":
      return isLocalName(request) && isWebKit(String(request.headers["user-agent"] ?? ""));
  }
}

function isLocalName({ headers: { host = "" } }: IncomingMessage): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/i.test(host);
}

/** Whether a browser is Safari. All browsers mention Safari, but only WebKit mentions none of the others. */
function isWebKit(agent: string): boolean {
  return /\bSafari\//.test(agent) && !/\b(Chrome|Chromium|HeadlessChrome|Edg|OPR|Android)\b/.test(agent);
}
