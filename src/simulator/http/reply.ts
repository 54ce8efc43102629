import type { ServerResponse } from "node:http";
import type { Dialect } from "../dialects/dialect.ts";
import { EngineError } from "../engine-error.ts";

/** Answers with a JSON document. */
export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  response.end(text);
}

/** Answers with an error in the dialect. Anything that is not an engine error is a bug of the simulator. */
export function sendError(response: ServerResponse, dialect: Dialect, error: unknown): void {
  const known = error instanceof EngineError ? error : new EngineError(500, `Simulator bug: ${String(error)}`);
  sendJson(response, known.status, dialect.error(known));
}
