import type { IncomingMessage, ServerResponse } from "node:http";
import { extname } from "node:path";
import { readMediaType } from "#lib/text/media-type.ts";

/** Built files by their paths below the build folder, such as "assets/app-1a2b.js" and "assets/app-1a2b.js.br". */
export type StaticFiles = ReadonlyMap<string, Uint8Array>;

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".go": "text/plain; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".java": "text/plain; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".py": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".ts": "text/plain; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".webmanifest": "application/manifest+json",
  ".webp": "image/webp",
  ".woff2": "font/woff2",
  ".yaml": "text/plain; charset=utf-8",
};

/** Encodings of precompressed files, in order of preference, and the endings of those files. */
const encodings = [
  ["br", ".br"],
  ["gzip", ".gz"],
] as const;

/** Sends a built file in the best encoding that the browser accepts. Returns false when there is no such file. */
export function sendFile(
  files: StaticFiles,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
  status = 200,
): boolean {
  const type = types[extname(path)];
  const plain = files.get(path);
  if (type === undefined || plain === undefined) {
    return false;
  }
  const accepted = readEncodings(String(request.headers["accept-encoding"] ?? ""));
  const [encoding, body] = encodings
    .filter(([name]) => accepted.has(name))
    .map(([name, ending]) => [name, files.get(path + ending)] as const)
    .find(([, found]) => found !== undefined) ?? [undefined, plain];
  response.writeHead(status, {
    "content-type": type,
    "content-length": String(body?.length ?? 0),
    "cache-control": path.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-store",
    vary: "accept-encoding",
    ...(encoding !== undefined && { "content-encoding": encoding }),
  });
  response.end(request.method === "HEAD" ? undefined : body);
  return true;
}

/** The encodings that a browser accepts. q=0 means that it does not. */
function readEncodings(header: string): ReadonlySet<string> {
  const items = header.toLowerCase().split(",");
  return new Set(items.filter((item) => !isRefused(item)).map((item) => readMediaType(item)));
}

function isRefused(item: string): boolean {
  const [, parameter = ""] = item.split(";", 2);
  return /^q=0(\.0{0,3})?$/.test(parameter.trim());
}
