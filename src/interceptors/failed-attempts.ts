import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** How often credentials from one address may be wrong. */
export interface FailedAttempts {
  /** Counts a failure. Answers how many milliseconds to wait when the address has too many, else undefined. */
  count(address: string): Promise<number | undefined>;
}

/** Counts in memory: so many failures a network in so many seconds, then it waits for the rest of them. */
export function createFailedAttempts(points = 30, seconds = 60): FailedAttempts {
  const limiter = new RateLimiterMemory({ points, duration: seconds });
  return {
    async count(address) {
      try {
        await limiter.consume(networkOf(address));
        return undefined;
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) return Math.max(1, refusal.msBeforeNext);
        throw refusal;
      }
    },
  };
}

/** What one subscriber has: an IPv4 address, or the /64 around an IPv6 one. */
export function networkOf(address: string): string {
  const [, ipv4] = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address) ?? [];
  if (ipv4 !== undefined) return ipv4;
  const [before = [], after = []] = address.split("::").map((half) => half.split(":").filter(Boolean));
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill("0");
  return [...before, ...zeros, ...after].slice(0, 4).join(":");
}
