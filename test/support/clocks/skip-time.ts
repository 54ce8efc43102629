import { jest } from "@jest/globals";
import { systemClock } from "#lib/time/clock.ts";

let skippedMs = 0;

/**
 * Lets spans of time be over at once for what runs in this process by the machine's clock. They stay over until the end of the
 * file, since that clock never goes back. A service's wall clock goes by it until its database is asked again, and then back:
 * what a test does after this is the last that it does with the service.
 */
export function skipTime(ms: number): void {
  skippedMs += ms;
  jest.spyOn(systemClock, "monotonic").mockImplementation(() => performance.now() + skippedMs);
}
