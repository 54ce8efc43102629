import type { ServerHttp2Stream } from "node:http2";
import { type ServerInterceptingCallInterface, status as Status, type StatusObject } from "@grpc/grpc-js";
import type { Slots } from "../wire/slots.ts";

/*
 * Wrong: a server's interceptors learn of whole messages alone, after grpc-js has kept their pieces; a stream whose
 * answer is complete is read on for as long as its client sends; all compressed messages are inflated at the same time.
 * Memory and time of a call so are in its client's hands.
 * Upstream: @grpc/grpc-js 1.14.7 (`BaseServerInterceptingCall`, private members `stream` and `decompressMessage`).
 * Still needed while test/grpc/workarounds/server-call.test.ts sees a finished call's stream stay open without it.
 * Delete when grpc-js bounds what it receives for a call, or gives interceptors the bytes as they come.
 */

/** What a call has inside, which interceptors are not meant to reach. */
interface Inside {
  readonly stream: ServerHttp2Stream;
  readonly incomingEncoding: string;
  decompressMessage(message: Buffer, encoding: string): Buffer | Promise<Buffer>;
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

function inside(call: Call): Inside {
  return call as unknown as Inside;
}
