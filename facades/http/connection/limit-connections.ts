import type { Server, Socket } from "node:net";
import { isLoopback } from "../../../lib/net/address.ts";
import { toNetwork } from "../../../lib/net/network.ts";
import type { IsTrustedProxy } from "../request/client-address.ts";
import { NetworkCounts } from "./network-counts.ts";

/** How many connections a server takes. */
export interface ConnectionLimits {
  /** The total. */
  readonly connections: number;
  /** From one address, unless it is a trusted proxy's. Programs on this machine may have half of the total. */
  readonly connectionsPerAddress: number;
  /** Undefined: there are no proxies. */
  readonly isTrustedProxy?: IsTrustedProxy | undefined;
  /** Called with each connection that is closed because there are too many. */
  readonly onRefused?: (reason: "connections" | "connections_per_address") => void;
}

/** Closes connections beyond the limits as soon as they arrive. */
export function limitConnections(server: Server, limits: ConnectionLimits): void {
  const { connections, connectionsPerAddress, isTrustedProxy, onRefused } = limits;
  const counts = new NetworkCounts();
  server.maxConnections = connections;
  server.on("drop", () => onRefused?.("connections"));
  server.prependListener("connection", (socket: Socket) => {
    const address = socket.remoteAddress;
    if (address === undefined || isTrustedProxy?.(address)) {
      return;
    }
    const network = toNetwork(address);
    const isOwn = address === "::1" || isLoopback(network);
    const most = isOwn ? Math.max(connections / 2, connectionsPerAddress) : connectionsPerAddress;
    if (counts.add(network, most)) {
      socket.once("close", () => counts.remove(network));
    } else {
      onRefused?.("connections_per_address");
      socket.destroy();
    }
  });
}
