/** A secret for making key digests. A digest names the version of its pepper. */
export interface Pepper {
  readonly version: number;
  readonly secret: string;
}
