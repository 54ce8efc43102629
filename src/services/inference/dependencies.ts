import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Catalogue } from "#src/fleet/catalogue/interface.ts";
import type { Fleet } from "#src/fleet/interface.ts";
import type { Labels } from "#src/money/labels/labels.ts";
import type { Ledger } from "#src/money/model/ledger.ts";
import type { Dependencies as ReadAheadDependencies } from "./answer/read-ahead.ts";
import type { InferenceObserver } from "./interface.ts";

export interface Dependencies {
  readonly catalogue: Catalogue;
  readonly fleet: Fleet;
  readonly ledger: Ledger;
  readonly labels: Labels;
  readonly random: Random;
  readonly logger: Logger;
  readonly observer: InferenceObserver;
  /** The limits for readers of streamed answers, and the memory that they share. */
  readonly readers: Pick<ReadAheadDependencies, "memory" | "limits" | "clock">;
  /** Whether accounts are separated in the engines' prefix caches. */
  readonly cacheSalt: boolean;
}
