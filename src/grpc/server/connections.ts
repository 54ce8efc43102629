import type { Server, Socket } from "node:net";

/** The open connections of a server. */
export interface Connections {
  /** Ends those over which nothing has come, which a server that stops would wait for. */
  endSilent(): void;
  endAll(): void;
}

/** Keeps a server's connections, from before it listens. */
export function connectionsOf(server: Server): Connections {
  const open = new Set<Socket>();
  server.on("connection", (connection: Socket) => {
    open.add(connection);
    connection.once("close", () => open.delete(connection));
  });
  return {
    endSilent() {
      for (const connection of open) if (connection.bytesRead === 0) connection.destroy();
    },
    endAll() {
      for (const connection of open) connection.destroy();
    },
  };
}
