/** Tells other cores that share the store about accounts. */
export interface Announcements {
  /** True when other cores may hold slices, too. */
  readonly shared: boolean;
  /** Tells the other cores that an account's money or keys have changed, or that its money is wanted here. */
  announce(accountId: string): Promise<void>;
  /**
   * Calls back whenever another core announces something. Each function is registered once; calling again mends a lost
   * connection.
   */
  listen(heard: Heard): Promise<void>;
}

/**
 * Called with an account. Undefined: nothing was heard for a while, so announcements of any account may have been
 * missed.
 */
export type Heard = (accountId: string | undefined) => void;
