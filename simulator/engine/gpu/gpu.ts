/** The speed and memory of the simulated GPU. Times are in milliseconds at speed 1. */
export interface Gpu {
  /** A decoding step takes `stepBase + stepPerSequence · batch`. */
  readonly stepBase: number;
  readonly stepPerSequence: number;
  /** Prompt tokens processed in a second, in chunks that are added to decoding steps. */
  readonly prefillPerSecond: number;
  readonly prefillChunk: number;
  /** The most sequences that may run at once, and that may wait. Beyond these, a request is refused as overload. */
  readonly maxRunning: number;
  readonly maxWaiting: number;
  /** KV memory in tokens. A multiple of the block size. */
  readonly kvTokens: number;
  /** Whether a prefix that was processed before is reused. */
  readonly prefixCache: boolean;
}

/** Roughly a mid-size model on one current data-centre GPU. */
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
