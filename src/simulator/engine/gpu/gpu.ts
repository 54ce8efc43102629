/** The speed and memory of the simulated GPU. Times are in milliseconds at speed 1. */
export interface Gpu {
  /** A decoding step takes `stepBase + stepPerSequence · batch`. */
  readonly stepBase: number;
  readonly stepPerSequence: number;
  /** Prompt tokens worked through in a second, in chunks that ride along with decoding steps. */
  readonly prefillPerSecond: number;
  readonly prefillChunk: number;
  /** Sequences that may run at once, and that may wait; one more is refused as overload. */
  readonly maxRunning: number;
  readonly maxWaiting: number;
  /** KV memory in tokens; a multiple of the block size. */
  readonly kvTokens: number;
  /** Whether a prefix that was worked through before is reused. */
  readonly prefixCache: boolean;
}

/** A mid-size model on one current data-centre GPU, roughly. */
export const defaultGpu: Gpu = {
  stepBase: 6,
  stepPerSequence: 0.35,
  prefillPerSecond: 8000,
  prefillChunk: 2048,
  maxRunning: 256,
  maxWaiting: 1024,
  kvTokens: 524_288,
  prefixCache: true,
};
