import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Server } from "@grpc/grpc-js";
import { answeredIdHeader } from "#lib/rpc/call-headers.ts";
import { mendDeadline } from "./deadlines.ts";

/*
 * Wrong: streams cost all that grpc-js does for a call before any interceptor hears of them, and calls of methods that nobody
 * serves, and streams that are no gRPC at all, are answered before, as fast as they come and without an id: nothing can bound them, or find them again.
 * Upstream: @grpc/grpc-js 1.14.7 (`Server._streamHandler`, private, which hears of streams where channelz is off).
 * Still needed while test/wire/grpc/workarounds/unserved-streams.test.ts sees an interceptor miss such calls.
 * Delete when interceptors see all streams, before anything is made for them.
 */

/** The private part of a server that hears of streams first. */
interface Inside {
  _streamHandler(interceptors: unknown, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void;
}

/** What becomes of streams. */
export interface StreamBounds {
  /** Whether a path is that of a method. */
  isServed(path: string): boolean;
  /** Decides when a stream is looked at. */
  begin(stream: ServerHttp2Stream, look: () => void): void;
  /** Decides when a stream is answered that no handler serves, and under which id. */
  refuse(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, answer: (requestId: string) => void): void;
}

/** Bounds a server's streams. To be called before the server has connections. */
export function boundStreams(server: Server, { isServed, begin, refuse }: StreamBounds): void {
  const inside = server as unknown as Inside;
  const { _streamHandler: handle } = inside;
  inside._streamHandler = (interceptors, stream, headers) => {
    stream.on("error", () => {}); // grpc-js listens only from its call or its answer on
    const look = () => {
      mendDeadline(stream, headers);
      const answer = () => handle.call(server, interceptors, stream, headers);
      if (isServed(String(headers[":path"])) && headers["content-type"]?.startsWith("application/grpc")) {
        answer();
      } else {
        refuse(stream, headers, (requestId) => {
          addToHead(stream, answeredIdHeader, requestId);
          answer();
        });
      }
    };
    begin(stream, () => stream.destroyed || look());
  };
}

/** Adds a header to the one head that answers a stream. */
function addToHead(stream: ServerHttp2Stream, name: string, value: string): void {
  const { respond } = stream;
  stream.respond = (head, options) => respond.call(stream, { ...head, [name]: value }, options);
}
