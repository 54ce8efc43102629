import type { IncomingMessage } from "node:http";
import { EngineError } from "../engine-error.ts";
import { type Json, object } from "./chat-request.ts";

const empty: Json = {};

/** Reads a request's JSON object and passes it to `done`. A request without a body has an empty object. */
export function readBody(request: IncomingMessage, done: (body: Json | EngineError) => void): void {
  if (request.method === "GET" || request.method === "DELETE") {
    request.resume();
    done(empty);
    return;
  }
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const [only] = parts;
    const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts);
    done(parse(bytes.toString()));
  });
}

function parse(text: string): Json | EngineError {
  try {
    return object(JSON.parse(text)) ?? new EngineError(400, "The request body must be a JSON object.");
  } catch (error) {
    return new EngineError(400, `JSON decode error: ${String(error)}`);
  }
}
