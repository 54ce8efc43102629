import type { Server, Socket } from "node:net";
import { type Clock, systemClock } from "../../../lib/time/clock.ts";

/** How many connections a server takes. */
export interface ConnectionLimits {
  /** From all addresses. */
  readonly total: number;
  /** From one address. A facade with 5,000 running calls needs about 30. */
  readonly perAddress: number;
  /** How long a new connection may be silent, TLS included, in milliseconds. */
  readonly firstBytesMs: number;
}

/** The default limits. */
export const defaultConnectionLimits: ConnectionLimits = { total: 20_000, perAddress: 256, firstBytesMs: 15_000 };

/** The open connections of a server. */
export interface Connections {
  /** Closes connections over which nothing has come, since a stopping server would wait for them. */
  endSilent(): void;
  endAll(): void;
}

/** Tracks a server's connections, from before it listens, and closes excess ones at once. */
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
