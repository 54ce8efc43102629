import { Windows } from "#lib/door/counts/windows.ts";
import { toNetwork, toWiderNetwork } from "#lib/net/network.ts";
import { type Clock, systemClock } from "#lib/time/clock.ts";

/** Counts wrong credentials by address. */
export interface FailedAttempts {
  /** Counts a failure. Returns the milliseconds to wait when the address has too many. Undefined: no wait. */
  count(address: string): number | undefined;
  /** The milliseconds that an address with too many failures has to wait. Undefined: it has not. */
  wait(address: string): number | undefined;
  /** The number of networks that are kept now. */
  readonly size: number;
}

/** Bounds of the counters. */
export interface FailedAttemptLimits {
  /** Failures that a network may have in one window. */
  readonly points: number;
  /** The length of a window. */
  readonly seconds: number;
  /** The most networks that are counted separately, and as many again of the wider networks used beyond that. */
  readonly maxNetworks: number;
}

const defaultLimits: FailedAttemptLimits = { points: 30, seconds: 60, maxNetworks: 20_000 };
/** How many times the failures a wider network may have: it has more subscribers. */
const widerPoints = 4;

/**
 * Counts in memory: each network may have so many failures in a window, and then waits for the rest of it. When more
 * networks fail than are kept, new ones are counted with their neighbours, as an IPv4 /24 or an IPv6 /56. When there
 * are too many of these as well, the oldest is forgotten. A right credential never waits, so that no customer is locked
 * out.
 */
export function createFailedAttempts(
  limits: Partial<FailedAttemptLimits> = {},
  clock: Clock = systemClock,
): FailedAttempts {
  const { points, seconds, maxNetworks } = { ...defaultLimits, ...limits };
  const narrow = new Windows(seconds * 1000, maxNetworks);
  const wide = new Windows(seconds * 1000, maxNetworks);
  return {
    count(address) {
      const now = clock.monotonic();
      const network = toNetwork(address);
      return narrow.hasRoom(network, now)
        ? narrow.count(network, points, now)
        : wide.count(toWiderNetwork(address), points * widerPoints, now);
    },
    wait(address) {
      const now = clock.monotonic();
      return (
        narrow.wait(toNetwork(address), points, now) ?? wide.wait(toWiderNetwork(address), points * widerPoints, now)
      );
    },
    get size() {
      return narrow.size + wide.size;
    },
  };
}
