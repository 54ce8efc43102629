import { toNetwork, toWiderNetwork } from "../../../lib/net/network.ts";
import { type Clock, systemClock } from "../../../lib/time/clock.ts";

/** Counts wrong credentials by address. */
export interface FailedAttempts {
  /** Counts a failure. Returns the milliseconds to wait when the address has too many. Undefined: no wait. */
  count(address: string): number | undefined;
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

interface Window {
  count: number;
  readonly endsAt: number;
}

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
  const narrow = new Map<string, Window>();
  const wide = new Map<string, Window>();

  function countIn(windows: Map<string, Window>, network: string, most: number, now: number): number | undefined {
    const known = windows.get(network);
    if (known !== undefined && known.endsAt > now) {
      known.count += 1;
      return known.count > most ? Math.max(1, known.endsAt - now) : undefined;
    }
    windows.delete(network); // moves it to the end: windows are in the order in which they end
    windows.set(network, { count: 1, endsAt: now + seconds * 1000 });
    return undefined;
  }

  function makeRoom(windows: Map<string, Window>, now: number): void {
    for (const [network, { endsAt }] of windows) {
      if (endsAt > now) {
        return;
      }
      windows.delete(network);
    }
  }

  return {
    count(address) {
      const now = clock.monotonic();
      const network = toNetwork(address);
      makeRoom(narrow, now);
      if (narrow.has(network) || narrow.size < maxNetworks) {
        return countIn(narrow, network, points, now);
      }
      makeRoom(wide, now);
      const wider = toWiderNetwork(network);
      const [oldest] = wide.keys();
      if (!wide.has(wider) && wide.size >= maxNetworks && oldest !== undefined) {
        wide.delete(oldest);
      }
      return countIn(wide, wider, points * widerPoints, now);
    },
    get size() {
      return narrow.size + wide.size;
    },
  };
}
