import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { RequestError } from "../request/error.ts";
import type { ErrorAnswer } from "../routing/surface.ts";
import type { Pipeline } from "./pipeline.ts";

/** How long a client may take to read why its connection ends, in milliseconds. */
const lingerMs = 2_000;

/** Answers bytes that are no request; `head` is what is known of them, which may be their beginning or their middle. */
export type AnswerMalformed = (error: RequestError, head: string) => ErrorAnswer;

/** Node.js's error about bytes that are no request. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

const ended = new WeakSet<Duplex>();

/**
 * Ends a connection whose bytes are no request, with an answer in the shape of a surface. An error in what follows
 * requests that are being answered waits for those answers.
 */
export function refuseMalformed(
  { code = "", rawPacket }: ParserError,
  socket: Duplex,
  pipeline: Pipeline,
  answer: AnswerMalformed,
): void {
  const end = () => {
    if (socket.writable) {
      socket.end(responseText(answer(requestError(code), rawPacket?.toString("latin1") ?? "")));
      setTimeout(() => socket.destroy(), lingerMs).unref();
    } else {
      socket.destroy();
    }
  };
  if (ended.has(socket)) {
    return; // more of the same
  }
  ended.add(socket);
  const [request, response] = pipeline.running(socket) ?? [];
  if (request?.complete) {
    pipeline.afterwards(socket, end);
  } else if (code === "ECONNRESET" || response?.headersSent) {
    socket.destroy();
  } else {
    end();
  }
}

function requestError(code: string): RequestError {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new RequestError(408, "The request took too long to arrive.");
    case "HPE_HEADER_OVERFLOW":
      return new RequestError(431, "The head of the request is larger than 32 KiB.");
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return new RequestError(413, "The extensions of a chunk are larger than 16 KiB.");
    default:
      return new RequestError(400, "This is not a valid HTTP request.");
  }
}

function responseText({ status, body, headers }: ErrorAnswer): string {
  const all = {
    ...headers,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
