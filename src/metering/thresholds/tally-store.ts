/** A tally that was charged to since balances and budgets were last looked at. */
export interface UnseenTally {
  readonly coreId: string;
  /** Whole hours since 1970. */
  readonly hour: number;
  readonly accountId: string;
  /** Empty: a service token. */
  readonly keyId: string;
  readonly model: string;
  /** Requests that it counts. */
  readonly requests: number;
  /** Whether it may have charges that count in no slice of a budget. */
  readonly unbudgeted: boolean;
}

/** Keeps tallies of charges: per hour, account, key and model. */
export interface TallyStore {
  /** Tallies of charges that were not looked at yet, the oldest hours first. */
  unseenTallies(limit: number): Promise<UnseenTally[]>;
  /** Notes that tallies were looked at, but for those that were charged to since they were read. */
  markSeen(tallies: readonly UnseenTally[]): Promise<void>;
  /**
   * Folds tallies of the hours before one (whole hours since 1970) into rollups and spans, some at a time. Those that were not
   * looked at stay. Returns how many.
   */
  foldTallies(before: number): Promise<number>;
  /**
   * Builds spans of rollups that were there before spans were, some at a time. Returns whether there are more of them.
   */
  buildSpans(): Promise<boolean>;
}
