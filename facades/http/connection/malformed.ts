import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { RequestError } from "../request/error.ts";
import type { ErrorAnswer } from "../routing/surface.ts";
import type { Pipeline } from "./pipeline.ts";

/** Milliseconds that a client has to read why its connection ends. */
const lingerMs = 2_000;

/** Answers bytes that are not a request. `head` is what is known of them: perhaps their beginning or their middle. */
export type AnswerMalformed = (error: RequestError, head: string) => ErrorAnswer;

/** Node.js's error for bytes that are not a request. */
interface ParserError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

const ended = new WeakSet<Duplex>();

/**
 * Ends a connection whose bytes are not a request, with an answer in the format of a surface. Where earlier requests
 * are still being answered, waits for their answers first.
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
    return; // more bytes of the same fault
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
