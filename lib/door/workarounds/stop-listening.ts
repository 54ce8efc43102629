import { Server } from "node:net";

/*
 * Wrong: an HTTP server's `close` also ends connections that Node.js takes for idle, and idle for it is a connection
 * whose first request is still on its way: a client that has just connected to a server that drains sees it cut.
 * Upstream: Node.js 26 (`Server.prototype.close` in lib/_http_server.js; nodejs/node#63470 made it so on purpose).
 * Still needed while test/lib/door/workarounds/stop-listening.test.ts sees such a connection cut by `close`.
 * Delete when an HTTP server can stop listening without ending connections.
 */

/**
 * Takes no new connections and leaves the open ones alone. Resolves once they have ended. An HTTP server's `close()` must
 * follow: it ends HTTP's own checks.
 */
export function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => Server.prototype.close.call(server, () => resolve()));
}
