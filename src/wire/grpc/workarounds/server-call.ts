import { constants, type Http2Session, type ServerHttp2Stream } from "node:http2";
import { Metadata, type ServerInterceptingCallInterface, status as Status, type StatusObject } from "@grpc/grpc-js";
import type { Slots } from "../messages/slots.ts";

/*
 * Wrong: a server's interceptors learn of whole messages alone, after grpc-js has kept their pieces; a stream whose
 * answer is complete is read on for as long as its client sends; all compressed messages are inflated at the same time;
 * all messages of what comes at once, thousands in 16 KB, are read at once, whoever waits for them; nothing tells how much
 * of an answer waits for its client. Memory and time of a call so are in its client's hands.
 * Upstream: @grpc/grpc-js 1.14.7 (`BaseServerInterceptingCall`, private members `stream` and `decompressMessage`).
 * Still needed while test/wire/grpc/workarounds/server-call.test.ts sees a finished call's stream stay open without it.
 * Delete when grpc-js bounds what it receives for a call, or gives interceptors the bytes as they come.
 */

/** The private parts of a call that interceptors are not meant to reach. */
interface Inside {
  readonly stream: ServerHttp2Stream;
  readonly incomingEncoding: string;
  /** Messages that wait for their reader, and a mark behind the last one. */
  readonly readQueue: readonly unknown[];
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
  handleDataFrame(bytes: Buffer): void;
  /** The reader wants a message. */
  startRead(): void;
}

type Call = ServerInterceptingCallInterface;
type Listener = Parameters<Call["start"]>[0];

/**
 * Puts a listener before the one that a handler starts its call with. An interceptor's own class would do the same and
 * pass every message of the answer through itself; here the call stays the one that it is.
 */
export function listenBefore(call: Call, wrap: (listener: Listener) => Listener): void {
  const { start } = call;
  call.start = (listener) => start.call(call, wrap(listener));
}

/** Tells how many bytes of the request come, as they come: grpc-js tells of whole messages alone, which it keeps in pieces. */
export function onRequestBytes(call: Call, listener: (bytes: number) => void): void {
  inside(call).stream.on("data", ({ length }: Buffer) => listener(length));
}

/**
 * Ends a stream whose answer is complete while its request is not: grpc-js would read the rest away for as long as the
 * client sends, and keep the stream open for as long as the client does.
 */
export function closeRequest(call: Call): void {
  const { stream } = inside(call);
  setImmediate(() => {
    if (!stream.closed && !stream.destroyed) {
      stream.close();
    }
  });
}

/** The stream of a call. */
export function streamOf(call: Call): ServerHttp2Stream {
  return inside(call).stream;
}

/** The connection that a call came over. Undefined: it is gone. */
export function findConnection(call: Call): Pick<Http2Session, "destroy" | "socket"> | undefined {
  return inside(call).stream.session;
}

/** Tells when a call's stream is closed; at once if it is. */
export function onClose(call: Call, listener: () => void): void {
  const { stream } = inside(call);
  if (stream.closed) {
    listener();
  } else {
    stream.once("close", listener);
  }
}

/** Where an answer goes. */
export interface AnswerStream {
  /** Bytes that wait for the client. */
  readonly waiting: number;
  /** Ends it without its rest. */
  cutOff(): void;
}

/** Is told of an answer as it is written. */
export interface AnswerListener {
  wrote(stream: AnswerStream): void;
  /** The client has taken a message, or has room for it. */
  took(): void;
  /** The status is on its way, behind all messages. */
  ended(): void;
}

/** Tells of an answer as it is written: interceptors of their own would make two more objects of each message. */
export function onAnswer(call: Call, listener: AnswerListener): void {
  const { sendMessage, sendStatus } = call;
  const { stream } = inside(call);
  const answer: AnswerStream = {
    get waiting() {
      return stream.writableLength;
    },
    cutOff: () => stream.close(constants.NGHTTP2_CANCEL),
  };
  call.sendMessage = (message, done) => {
    sendMessage.call(call, message, () => {
      listener.took();
      done();
    });
    listener.wrote(answer);
  };
  call.sendStatus = (status) => {
    sendStatus.call(call, status);
    listener.ended();
  };
}

/**
 * Adds a header to each answer, and to the status of each failure, among them those that grpc-js itself refuses. `failed` returns
 * the status to answer with.
 */
export function addToAnswer(
  call: Call,
  name: string,
  read: () => string,
  failed: (status: StatusObject) => StatusObject,
): void {
  const { sendMetadata, sendStatus } = call;
  call.sendMetadata = (metadata) => {
    metadata.set(name, read());
    sendMetadata.call(call, metadata);
  };
  call.sendStatus = (status) => {
    if (status.code === Status.OK) {
      return sendStatus.call(call, status);
    }
    const { code, details, metadata = null } = status;
    const failure = failed({ code, details, metadata: metadata?.clone() ?? new Metadata() });
    failure.metadata.set(name, read());
    sendStatus.call(call, failure);
  };
}

/** Lets a compressed message be inflated when there is a slot: grpc-js would inflate all of them at the same time. */
export function limitInflating(call: Call, slots: Slots): void {
  const own = inside(call);
  if (own.incomingEncoding === "identity") {
    return;
  }
  const { decompressMessage } = own;
  own.decompressMessage = (message, encoding) =>
    slots
      .use(async () => decompressMessage.call(own, message, encoding))
      .catch((error: Partial<StatusObject>) => {
        if (error.code !== Status.INTERNAL) {
          throw error;
        }
        // So grpc-js calls data that is not what its header says.
        throw { code: Status.INVALID_ARGUMENT, details: "The request message cannot be inflated.", metadata: null };
      });
}

/** The bytes of a stream of messages that are read at once. */
const pieceBytes = 256;

/** Reads a stream of messages piece by piece, as its reader asks for more: grpc-js would read all that comes at once. */
export function readInPieces(call: Call): void {
  const own = inside(call);
  const { handleDataFrame, startRead } = own;
  let rest: Buffer = Buffer.of();
  const read = () => {
    while (rest.length > 0 && own.readQueue.length === 0) {
      const piece = rest.subarray(0, pieceBytes);
      rest = rest.subarray(pieceBytes);
      handleDataFrame.call(own, piece);
    }
  };
  own.handleDataFrame = (bytes) => {
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    read();
  };
  own.startRead = () => {
    read();
    startRead.call(own);
  };
}

function inside(call: Call): Inside {
  return call as unknown as Inside;
}
