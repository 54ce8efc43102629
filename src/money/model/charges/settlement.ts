import type { SurfaceName } from "#lib/inference/surface-names.ts";
import type { Delivery, FinishName } from "#src/storage/entities/metering/usage.ts";
import type { PicoUsd } from "../interface.ts";

/** How a charged request ended. */
export type SettleStatus = "completed" | "cancelled" | "failed";

/** Facts about a run besides its cost. Absent: unknown. */
export interface RunFacts {
  /** Why the answer ended. Absent: it did not end. */
  readonly finish?: FinishName;
  readonly delivery?: Delivery;
  /** Milliseconds from the request to the first output. */
  readonly firstTokenMs?: number;
  /** Milliseconds from the request to the end of the answer. */
  readonly durationMs?: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
  /** The id of the inference server that answered. */
  readonly server?: string;
  /** The surface that the request came through. */
  readonly surface?: SurfaceName;
}

/** The cost of a settled request. */
export interface Settled {
  readonly cost: PicoUsd;
  /** The cost that each lot paid, in the order of spending. */
  readonly lots: readonly { readonly lotId: string; readonly cost: PicoUsd }[];
}
