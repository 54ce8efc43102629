/** How cores that share a store tell each other of accounts. */
export interface Announcements {
  /** True when other cores may hold slices too. */
  readonly shared: boolean;
  /** Tells the other cores that an account's money or keys have changed, or that its money is wanted here. */
  announce(accountId: string): Promise<void>;
  /**
   * Calls back whenever another core announces something; each function once. Called again, it mends a connection
   * that was lost.
   */
  listen(heard: Heard): Promise<void>;
}

/** Is told of an account. Undefined: announcements of any account may have been missed, as nothing was heard for a while. */
export type Heard = (accountId: string | undefined) => void;
