import { Door } from "#lib/door/door.ts";
import { startHttpServer } from "#lib/door/http-server.ts";
import { createConnectHandler } from "#src/wire/grpc/server/http/connect-server.ts";
import type { ListeningServer, ServerOptions } from "#src/wire/grpc/server/listening-server.ts";

/** Takes calls as the console's port does: by the handler of the Connect port, behind a server of its own. */
export async function startConsoleCalls(options: ServerOptions): Promise<ListeningServer> {
  const { address, door = new Door({ listener: "console" }) } = options;
  const shutdown = new AbortController();
  const handler = createConnectHandler({ ...options, door }, shutdown.signal);
  const server = await startHttpServer(handler, address, { door, setting: "listen.console" });
  return { address: server.address, stop: (graceMs) => server.close(graceMs) };
}
