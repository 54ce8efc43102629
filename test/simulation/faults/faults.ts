import { databaseFaults } from "./database.ts";
import { diskFaults } from "./disks.ts";
import type { Fault } from "./fault.ts";
import { networkFaults } from "./network.ts";
import { nightFaults } from "./nights.ts";
import { processFaults } from "./processes.ts";
import { twinFaults } from "./twins.ts";
import { workFaults } from "./work.ts";

/** All faults. A seed's world depends on their order. */
export const faults: readonly Fault[] = [
  ...processFaults,
  ...networkFaults,
  ...databaseFaults,
  ...diskFaults,
  ...twinFaults,
  ...workFaults,
  ...nightFaults,
];

/** The names of those that strike only where receipts leave the books. */
export const nightlyFaults: ReadonlySet<string> = new Set(nightFaults.map(({ name }) => name));

/** Faults that may strike a core with its own database. Its clock is the machine's, which is trusted at a start. */
export const localFaults: ReadonlySet<string> = new Set([
  ...["kill", "kill in the middle", "stop", "power cut", "suspend", "lying engine", "other prices configured"],
  ...["disk full", "disk fails to sync", "lying disk", "rotten journal", "old journal", "journal gone"],
  ...["many lots", "many price lists", ...nightlyFaults],
]);
