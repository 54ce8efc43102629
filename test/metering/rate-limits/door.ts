import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A door to a server that a test can shut. */
export interface Door {
  readonly url: string;
  /** Cuts every connection and refuses new ones. */
  shut(): Promise<void>;
  /** Takes connections and never answers, as a server that hangs. */
  hang(): void;
  open(): Promise<void>;
}

/** Stands between a client and a Redis server. */
export async function startDoor(serverUrl: string): Promise<Door> {
  const target = new URL(serverUrl);
  const sockets = new Set<Socket>();
  let hanging = false;
  let port = 0;
  let server: Server | undefined;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const door: Door = {
    get url() {
      const url = new URL(serverUrl);
      url.hostname = "127.0.0.1";
      url.port = String(port);
      return url.href;
    },
    async shut() {
      cut();
      await new Promise((resolve) => server?.close(resolve));
    },
    hang() {
      hanging = true;
    },
    async open() {
      if (hanging) cut();
      hanging = false;
      if (server?.listening) return;
      server = createServer((inside) => {
        const outside = connect(Number(target.port || 6379), target.hostname);
        for (const [from, to] of [
          [inside, outside],
          [outside, inside],
        ] as const) {
          sockets.add(from);
          from.on("data", (data) => hanging || to.write(data));
          from.on("error", () => {});
          from.on("close", () => {
            sockets.delete(from);
            to.destroy();
          });
        }
      });
      const listening = server;
      await new Promise<void>((resolve) => listening.listen(port, "127.0.0.1", resolve));
      port = (listening.address() as AddressInfo).port;
    },
  };
  await door.open();
  return door;
}
