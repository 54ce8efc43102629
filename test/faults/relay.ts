import { connect, createServer, type Socket } from "node:net";
import { listen } from "#lib/net/listen.ts";

/** A connection between two programs that can be cut. */
export interface Relay {
  /** host:port. */
  readonly address: string;
  /** Ends all connections, amid whatever is on its way. New ones can be made. */
  cut(): void;
  /** From now on nothing gets through, in either direction, and new connections are taken and never answered. */
  silence(): void;
  /** Ends what was silent. New connections get through. */
  speak(): void;
  /** Leads to another `host:port` from now on, as a name does that moves. What came by it before breaks. */
  leadTo(to: string): void;
  close(): void;
}

/** Starts a relay to `host:port`. */
export async function startRelay(to: string): Promise<Relay> {
  let { hostname, port } = new URL(`tcp://${to}`);
  const sockets = new Set<Socket>();
  let isSilent = false;
  const keep = (socket: Socket, onEnd: () => void) => {
    sockets.add(socket);
    socket
      .on("error", () => {})
      .on("close", () => {
        sockets.delete(socket);
        onEnd();
      });
  };
  const server = createServer((near) => {
    if (isSilent) {
      keep(near, () => {});
      return;
    }
    const far = connect(Number(port), hostname);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      keep(socket, () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  const address = await listen(server, "127.0.0.1:0", "relay");
  const cut = () => {
    for (const socket of sockets) {
      socket.destroy();
    }
  };
  return {
    address,
    cut,
    silence() {
      isSilent = true;
      for (const socket of sockets) {
        socket.unpipe().pause();
      }
    },
    speak() {
      isSilent = false;
      cut();
    },
    leadTo(other) {
      ({ hostname, port } = new URL(`tcp://${other}`));
      cut();
    },
    close() {
      server.close();
      cut();
    },
  };
}
