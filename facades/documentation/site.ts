import type { RequestListener } from "node:http";
import { type StaticFiles, sendFile } from "../http/site/static-files.ts";

/** The site's pages have inline scripts: for the initial colour scheme, and for the map of their parts. */
const policy =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Serves the built documentation: files by their paths below the site. Readers need no credential. */
export function createSite(files: StaticFiles): RequestListener {
  return (request, response) => {
    response.setHeader("content-security-policy", policy);
    response.setHeader("x-content-type-options", "nosniff");
    response.setHeader("referrer-policy", "no-referrer");
    if (request.method !== "GET" && request.method !== "HEAD") {
      response.writeHead(405, { allow: "GET, HEAD" }).end();
      return;
    }
    const [path = "/"] = (request.url ?? "/").split("?", 1);
    const isSent = toFiles(path).some((file) => sendFile(files, file, request, response));
    if (!isSent && !sendFile(files, "404.html", request, response, 404)) {
      response.writeHead(404).end();
    }
  };
}

/** The files that may be at a path, in order of preference. A folder means its index; `.html` may be omitted. */
function toFiles(path: string): string[] {
  const name = path.slice(1);
  return name === "" || name.endsWith("/") ? [`${name}index.html`] : [name, `${name}.html`, `${name}/index.html`];
}
