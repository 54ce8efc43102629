import type { ServerResponse } from "node:http";
import { styleSource } from "../../http/site/page.ts";
import type { Reach } from "../dependencies.ts";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${styleSource}`,
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const headers = {
  "content-security-policy": policy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "cache-control": "no-store",
};

/** Has browsers ask for this host by TLS alone from now on. */
const transportSecurity = "max-age=31536000";

/** Sets the headers of every answer of the console. The handler may add or replace headers. */
export function setSecurityHeaders(response: ServerResponse, reach: Reach): void {
  if (reach === "tls") {
    response.setHeader("strict-transport-security", transportSecurity);
  }
  for (const [name, value] of Object.entries(headers)) {
    response.setHeader(name, value);
  }
}
