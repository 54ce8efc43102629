import type { Server, Socket } from "node:net";
import { type Clock, systemClock } from "../../../lib/time/clock.ts";

/** How many connections a server takes. */
export interface ConnectionLimits {
  /** From everywhere. */
  readonly total: number;
  /** From one address: a facade with 5,000 calls under way needs about 30. */
  readonly perAddress: number;
  /** How long a connection may be silent before its first bytes, TLS included, in milliseconds. */
  readonly firstBytesMs: number;
}

/** The limits unless a server has others. */
export const defaultConnectionLimits: ConnectionLimits = { total: 20_000, perAddress: 256, firstBytesMs: 15_000 };

/** The open connections of a server. */
export interface Connections {
  /** Ends those over which nothing has come, which a server that stops would wait for. */
  endSilent(): void;
  endAll(): void;
}

/** Keeps a server's connections, from before it listens, and closes at once those that are too many. */
export function findConnections(
  server: Server,
  limits: Partial<ConnectionLimits> = {},
  clock: Clock = systemClock,
): Connections {
  const { total, perAddress, firstBytesMs } = { ...defaultConnectionLimits, ...limits };
  const open = new Set<Socket>();
  const counts = new Map<string, number>();
  server.maxConnections = total;
  server.prependListener("connection", (connection: Socket) => {
    const address = connection.remoteAddress ?? "";
    const count = counts.get(address) ?? 0;
    if (count >= perAddress) {
      return void connection.destroy();
    }
    counts.set(address, count + 1);
    open.add(connection);
    const stopWaiting = clock.after(firstBytesMs, () => {
      if (connection.bytesRead === 0) {
        connection.destroy();
      }
    });
    connection.once("close", () => {
      stopWaiting();
      open.delete(connection);
      const left = (counts.get(address) ?? 1) - 1;
      if (left > 0) {
        counts.set(address, left);
      } else {
        counts.delete(address);
      }
    });
  });
  return {
    endSilent() {
      for (const connection of open) {
        if (connection.bytesRead === 0) {
          connection.destroy();
        }
      }
    },
    endAll() {
      for (const connection of open) {
        connection.destroy();
      }
    },
  };
}
