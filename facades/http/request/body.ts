import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../../lib/time/clock.ts";
import type { BodyBudget } from "./body-budget.ts";
import { RequestError } from "./error.ts";

/** The largest body that is read, in bytes. */
const maxBodyBytes = 2 * 1024 * 1024;
/** How much of a larger one is drained, and for how long, so that its sender gets to read the answer. */
const maxDrainBytes = 8 * 1024 * 1024;
const maxDrainMs = 5_000;

/**
 * Reads the body as JSON, whatever its content type says, unless it is multipart. Throws RequestError:
 * 413 once the body has been drained, or cannot be within bounds; 415; 400 for bad UTF-8 or bad JSON.
 * Throws OVERLOADED when too much is being read at the same time.
 */
export async function readJson(request: IncomingMessage, clock: Clock, budget: BodyBudget): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  let taken = 0;
  try {
    await consume(request, clock, (chunk) => {
      size += chunk.length;
      if (size > maxBodyBytes) return false;
      budget.take(chunk.length);
      taken += chunk.length;
      chunks.push(chunk);
      return true;
    });
  } finally {
    budget.give(taken);
  }
  if (size > maxBodyBytes) throw new RequestError(413, "The body is larger than 2 MiB.");
  return parseJson(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size), request);
}

/** Reads the body away, within bounds: a client that still writes when the connection closes cannot read the answer. */
export async function drain(request: IncomingMessage, clock: Clock): Promise<void> {
  await consume(request, clock, () => false);
}

/** Reads to the end of the body. What `keep` does not want is read away, which ends at the bounds of draining. */
function consume(request: IncomingMessage, clock: Clock, keep: (chunk: Buffer) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let stopTimer: (() => void) | undefined;
    const settle = (end: () => void) => {
      stopTimer?.();
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      end();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      try {
        if (keep(chunk)) return;
      } catch (error) {
        return settle(() => reject(error));
      }
      if (size > maxDrainBytes) settle(resolve);
      else stopTimer ??= clock.after(maxDrainMs, () => settle(resolve));
    };
    const onEnd = () => settle(resolve);
    const onClose = () => settle(() => reject(new RequestError(400, "The body ended too early.")));
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

function parseJson(body: Buffer, { headers }: IncomingMessage): unknown {
  const contentType = headers["content-type"] ?? "";
  const encoding = headers["content-encoding"] ?? "identity";
  if (/^\s*multipart\//i.test(contentType)) {
    throw new RequestError(415, "Multipart bodies are not supported; send JSON as application/json.");
  }
  if (encoding.toLowerCase() !== "identity") {
    throw new RequestError(415, `The content encoding ${encoding} is not supported; send the body uncompressed.`);
  }
  if (body.length === 0) throw new RequestError(400, "The body is empty; it must be a JSON object.");
  if (!isUtf8(body)) throw unreadable(contentType, "The body is not valid UTF-8.");
  const text = body.toString("utf8");
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (error) {
    throw unreadable(contentType, `The body is not valid JSON: ${(error as SyntaxError).message}.`);
  }
}

const jsonLike = /^\s*($|;|[^;]*json|text\/plain|application\/x-www-form-urlencoded)/i;

/** A body that is no JSON is wrong in itself where it claims to be JSON or claims nothing (as `curl -d` does). */
function unreadable(contentType: string, message: string): RequestError {
  return jsonLike.test(contentType)
    ? new RequestError(400, message)
    : new RequestError(415, `The content type ${contentType} is not supported; send JSON as application/json.`);
}
