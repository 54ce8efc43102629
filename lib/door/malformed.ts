import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { reasonOfStatus } from "../errors/surface-refusals.ts";
import { toNetwork } from "../net/network.ts";
import { answeredIdHeader } from "../rpc/call-headers.ts";
import type { Door } from "./door.ts";
import { type Fault, headText } from "./head.ts";
import type { Pipeline } from "./pipeline.ts";

/** Milliseconds that a client has to read why its connection ends. */
const lingerMs = 2_000;

/** An answer to them. */
export interface FaultAnswer {
  readonly status: number;
  /** JSON text. */
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Answers bytes that are not a request. `head` is what is known of them: the head of the request that they cut short, otherwise
 * perhaps their beginning or their middle. `network`: where they came from.
 */
export type AnswerMalformed = (fault: Fault, head: string, network: string) => FaultAnswer;

/** The answer of listeners without a format of their own. */
export const plainAnswer: AnswerMalformed = ({ status, message }) => ({
  status,
  headers: {},
  body: JSON.stringify({ error: message }),
});

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
  door: Pick<Door, "refused" | "passes" | "nameRefusal">,
): void {
  const answerIt = () => {
    if (socket.writable) {
      door.refused("head");
      const network = toNetwork((socket as Socket).remoteAddress ?? "");
      const head = request?.complete === false ? headText(request) : (rawPacket?.toString("latin1") ?? "");
      socket.end(responseText(named(answer(readFault(code), head, network), network, door)));
      setTimeout(() => socket.destroy(), lingerMs).unref();
    } else {
      socket.destroy();
    }
  };
  const end = () => door.passes(socket, answerIt);
  if (ended.has(socket)) {
    return; // more bytes of the same fault
  }
  ended.add(socket);
  const [request, response] = pipeline.running(socket) ?? [];
  if (request === undefined ? code !== "ECONNRESET" : request.complete) {
    pipeline.afterwards(socket, end); // at once where nothing is to be answered before
  } else if (code === "ECONNRESET" || response?.headersSent) {
    socket.destroy();
  } else {
    end();
  }
}

/** Refuses a request whose head can be read in two ways, and ends its connection, on which nobody knows what follows. */
export function refuseHead(
  fault: Fault,
  request: IncomingMessage,
  response: ServerResponse,
  answer: AnswerMalformed,
  door: Pick<Door, "refused">,
): void {
  door.refused("head");
  response.shouldKeepAlive = false;
  const { status, body, headers } = answer(fault, headText(request), toNetwork(request.socket.remoteAddress ?? ""));
  response.writeHead(status, allHeaders(body, headers)).end(body);
}

/** An answer to what is no request, with an id: one of a surface has its own. */
function named({ status, body, headers }: FaultAnswer, address: string, door: Pick<Door, "nameRefusal">): FaultAnswer {
  if (answeredIdHeader in headers) {
    return { status, body, headers };
  }
  const requestId = door.nameRefusal({ given: undefined, reason: reasonOfStatus(status), status, address });
  return { status, body, headers: { ...headers, [answeredIdHeader]: requestId } };
}

function readFault(code: string): Fault {
  switch (code) {
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, message: "The request took too long to arrive." };
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, message: "The head of the request is larger than 32 KiB." };
    case "HPE_CHUNK_EXTENSIONS_OVERFLOW":
      return { status: 413, message: "The extensions of a chunk are larger than 16 KiB." };
    case "HPE_INVALID_EOF_STATE":
      return { status: 400, message: "The connection ended before the whole request had come." };
    default:
      return { status: 400, message: "This is not a valid HTTP request." };
  }
}

/** The headers of an answer after which the connection ends. */
function allHeaders(body: string, headers: FaultAnswer["headers"]): Readonly<Record<string, string>> {
  return {
    ...headers,
    connection: "close",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
}

function responseText({ status, body, headers }: FaultAnswer): string {
  const lines = Object.entries(allHeaders(body, headers)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
