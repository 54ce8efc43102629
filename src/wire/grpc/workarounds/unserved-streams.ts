import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Server } from "@grpc/grpc-js";

/*
 * Wrong: calls of methods that nobody serves, and streams that are no gRPC at all, are answered before any interceptor
 * hears of them, as fast as they come: nothing can bound them.
 * Upstream: @grpc/grpc-js 1.14.7 (`Server._streamHandler`, private, which hears of streams where channelz is off).
 * Still needed while test/wire/grpc/workarounds/unserved-streams.test.ts sees an interceptor miss such calls.
 * Delete when interceptors see all streams.
 */

/** The private part of a server that hears of streams first. */
interface Inside {
  _streamHandler(interceptors: unknown, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void;
}

/**
 * Has `act` decide when a stream is answered that no handler serves. To be called before the server has connections.
 * `isServed`: whether a path is that of a method.
 */
export function onUnserved(
  server: Server,
  isServed: (path: string) => boolean,
  act: (stream: ServerHttp2Stream, answer: () => void) => void,
): void {
  const inside = server as unknown as Inside;
  const { _streamHandler: handle } = inside;
  inside._streamHandler = (interceptors, stream, headers) => {
    const answer = () => handle.call(server, interceptors, stream, headers);
    if (isServed(String(headers[":path"])) && headers["content-type"]?.startsWith("application/grpc")) {
      answer();
    } else {
      stream.on("error", () => {}); // grpc-js listens only from its answer on
      act(stream, answer);
    }
  };
}
