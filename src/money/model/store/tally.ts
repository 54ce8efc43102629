/** A tally with charges since balances and budgets were last looked at. */
export interface UnseenTally {
  readonly coreId: string;
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly accountId: string;
  /** Empty: a service token. */
  readonly keyId: string;
  readonly model: string;
  /** The number of requests in it. */
  readonly requests: number;
  /** Whether it may have charges that count in no slice of a budget. */
  readonly unbudgeted: boolean;
}

/** Keeps tallies of charges: per hour, account, key and model. */
export interface TallyStore {
  /** Tallies with charges that were not looked at yet, oldest hours first. */
  unseenTallies(limit: number): Promise<UnseenTally[]>;
  /** Notes that tallies were looked at, except those with new charges since they were read. */
  markSeen(tallies: readonly UnseenTally[]): Promise<void>;
  /**
   * Folds tallies of the hours before `before` (whole hours since 1970) into rollups and spans, some at a time. Tallies
   * that were not looked at stay. Returns how many were folded.
   */
  foldTallies(before: number): Promise<number>;
  /** Builds spans for rollups from before spans existed, some at a time. Returns whether more are left. */
  buildSpans(): Promise<boolean>;
}
