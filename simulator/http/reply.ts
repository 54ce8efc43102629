import type { OutgoingHttpHeaders, ServerResponse } from "node:http";
import type { Dialect } from "../dialects/dialect.ts";
import { EngineError } from "../engine-error.ts";

/** Answers with a JSON document. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: OutgoingHttpHeaders = {},
): void {
  const text = JSON.stringify(body);
  const own = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
  response.writeHead(status, { ...own, ...headers });
  response.end(text);
}

/** Answers with text, such as metrics. */
export function sendText(response: ServerResponse, text: string): void {
  response.writeHead(200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  response.end(text);
}

/** Answers with an error in the dialect. Any error other than an engine error is a bug in the simulator. */
export function sendError(response: ServerResponse, dialect: Dialect, error: unknown, path: string): void {
  const known = error instanceof EngineError ? error : new EngineError(500, `Simulator bug: ${String(error)}`);
  const { retryAfter } = known.facts;
  const headers = retryAfter === undefined ? undefined : { "retry-after": String(retryAfter) };
  sendJson(response, known.status, dialect.error(known, path), headers);
}
