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

/** A window of a budget of an account, whose charges outside of slices were counted. */
export interface CountedWindow {
  readonly budgetId: string;
  readonly windowName: string;
  /** The sum, in pico-USD. */
  readonly outside: bigint;
}

/** Keeps tallies of charges: per hour, account, key and model. */
export interface TallyStore {
  /** Tallies with charges that were not looked at yet, oldest hours first. */
  unseenTallies(limit: number): Promise<UnseenTally[]>;
  /**
   * Notes that tallies were looked at, except those with new charges since they were read, and those of accounts one of whose
   * windows has not the sum that was counted in this look: a failover into the past has lost it, and keeps the tally. `turns`:
   * how often the database had changed hands before the look; none is noted if it has since.
   */
  markSeen(tallies: readonly UnseenTally[], counted?: readonly CountedWindow[], turns?: number): Promise<void>;
  /**
   * Folds tallies of the hours before `before` (whole hours since 1970) into rollups and spans, some at a time. Tallies
   * that were not looked at stay. Returns how many were folded.
   */
  foldTallies(before: number): Promise<number>;
}
