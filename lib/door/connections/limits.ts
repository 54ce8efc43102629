import { isThisMachine, toNetwork, toWiderNetwork } from "../../net/network.ts";

/** How many connections a listener takes. */
export interface ConnectionLimits {
  /** The total. */
  readonly connections: number;
  /** From one address, unless it is a trusted proxy's. Programs on this machine may have half of the total. */
  readonly connectionsPerAddress: number;
  /** How long a new connection may be silent, TLS included, in milliseconds. */
  readonly firstBytesMs: number;
}

/** How many times the connections of an address the network around it may have: it has more subscribers. */
export const widerTimes = 4;

/** The networks that an address counts for. */
export interface Networks {
  readonly own: string;
  readonly wider: string;
}

export function toNetworks(address: string): Networks {
  return { own: toNetwork(address), wider: toWiderNetwork(address) };
}

/** The connections that networks may have. Of this machine's the total is reached first. */
export function mostOf({ own }: Networks, { connections, connectionsPerAddress: most }: ConnectionLimits) {
  return isThisMachine(own)
    ? { most: Math.max(connections / 2, most), mostWider: connections * widerTimes }
    : { most, mostWider: most * widerTimes };
}
