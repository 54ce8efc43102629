/** One line of a plot. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}
