import { type Http2Session, performServerHandshake } from "node:http2";
import { Duplex } from "node:stream";

type Ping = (this: Http2Session, payload: Buffer | Pong, callback?: Pong) => boolean;
type Pong = (error: Error | null, duration: number, payload: Buffer) => void;

/*
 * Wrong: once an HTTP/2 session is closing, Node sends no more pings on it, and grpc-js, client and server, takes that
 * for a dead peer and cuts the calls that still run: every long stream when its core drains or its connection ages.
 * Upstream: @grpc/grpc-js 1.14.7 (keepalive; grpc/grpc-node#3068) on Node.js 26 (`Http2Session.ping`).
 * Still needed while test/wire/grpc/workarounds/closing-sessions.test.ts sees a call cut without it.
 * Delete when grpc-js stops its keepalive on closing sessions, or Node answers their pings.
 */

let isApplied = false;

/** Lets calls finish on connections that take no new ones: a ping on a closing session counts as answered. */
export function answerPingsOfClosingSessions(): void {
  if (isApplied) {
    return;
  }
  isApplied = true;
  const prototype = sessionPrototype();
  const { ping } = prototype;
  prototype.ping = function (payload, callback) {
    if (!this.closed || this.destroyed) {
      return ping.call(this, payload, callback);
    }
    const pong = typeof payload === "function" ? payload : callback;
    setImmediate(() => pong?.(null, 0, Buffer.alloc(8)));
    return true;
  };
}

/** Node does not export the class that client and server sessions extend. */
function sessionPrototype(): { ping: Ping } {
  const nowhere = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const session = performServerHandshake(nowhere);
  session.destroy();
  return Object.getPrototypeOf(Object.getPrototypeOf(session));
}
