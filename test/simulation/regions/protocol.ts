/** What a purse limits: an account's money, a key's budget in one window, or requests a minute. */
export type PurseKind = "money" | "budget" | "rate";

/** The public facts of a lot: enough to recreate it where a failover has lost it. */
export interface LotFacts {
  /** Derived from the payment's reference, or from the limit and its window: the same payment is the same lot. */
  readonly id: string;
  readonly purseId: string;
  readonly kind: PurseKind;
  /** Its place in the spending order. */
  readonly order: number;
  readonly amount: number;
}

/** A slice's history, counted from its beginning. Counters never fall: of two reports the larger number is right. */
export interface Counters {
  /** By the home shard. */
  granted: number;
  /** By the region's receipts. */
  spent: number;
  /** By the regional bank. */
  returned: number;
}

/** One region's part of one lot in one epoch, as reported. */
export interface SliceReport extends Readonly<Counters> {
  readonly lot: LotFacts;
  readonly epoch: number;
}

/** Asks for money up to a total, so that a wish that arrives twice is granted once. */
export interface Wish {
  readonly purseId: string;
  /**
   * Totals of this purse granted to this region in this epoch: what the first waiting request needs, what all waiting
   * ones need, and what is wanted when there is plenty.
   */
  readonly leastTo: number;
  readonly queueTo: number;
  readonly mostTo: number;
}

/** A region's signed statement of what it was granted, spent and returned. */
export interface Statement {
  readonly region: string;
  readonly epoch: number;
  /** The later of two statements of an epoch has the larger number. */
  readonly number: number;
  /** When it was made, by the world's time, for the age of the proof. */
  readonly at: number;
  readonly rows: readonly (Readonly<Counters> & { readonly lotId: string })[];
  readonly signature: Uint8Array;
}

/** A region's report and its wishes. */
export interface Exchange {
  readonly region: string;
  /** The id of the region's store. Another id than before is a new store, whatever its epoch. */
  readonly store: string;
  /** 0: its store is empty, and it asks for an epoch. */
  readonly epoch: number;
  /** Epochs up to this one were ended in its store by a reader. */
  readonly fenced: number;
  /** The newest generation of the home shard that it has heard. */
  readonly generation: number;
  readonly number: number;
  /** Whether it reports all slices of all epochs that its store ever began. */
  readonly isFull: boolean;
  readonly reports: readonly SliceReport[];
  readonly wishes: readonly Wish[];
  /** Revocations up to this one are stored. */
  readonly revocation: number;
  readonly statement: Statement | undefined;
}

/** The state of a purse, for one region. */
export interface PurseState {
  readonly purseId: string;
  /** Money is short: unheld money is returned at once, and each hold is asked for. */
  readonly isPoor: boolean;
  /** Unspent money of the purse outside this region. */
  readonly elsewhere: number;
  /** Shares of a reduced limit, which are returned before anybody uses them again. */
  readonly excess: number;
}

export interface Revocation {
  readonly number: number;
  readonly keyId: string;
}

/** An answer of the home shard, or a message on its own initiative. */
export interface Notice {
  readonly region: string;
  /** The addressed store. A notice for a lost store is not for its successor. */
  readonly store: string;
  readonly epoch: number;
  readonly generation: number;
  /** The exchange that this answers; the term counts from its sending. Absent: sent unasked, without a term. */
  readonly answers?: number;
  readonly grants: readonly (Readonly<LotFacts> & { readonly granted: number })[];
  readonly purses: readonly PurseState[];
  readonly revocations: readonly Revocation[];
}

/** The times that both sides use, in milliseconds. */
export const times = {
  /** How long a region may admit after an exchange was answered. */
  term: 30_000,
  /**
   * A region stops this long before its term ends, and the home shard takes it for silent this long after: clocks that
   * differ by less than both margins in a term (a tenth) break no promise.
   */
  margin: 1500,
  /** No request runs longer. */
  longestRun: 20_000,
  /** A region exchanges at least this often. */
  beat: 2500,
  /** Changes within this time go into one exchange. */
  linger: 15,
  /** An unanswered exchange is repeated after this. */
  retry: 1000,
  /** How long a request waits for money that others hold. */
  patience: 2000,
  /** Money that is unused for this long is returned. */
  idle: 10_000,
  /** A region asks for more when it has less than it spends in the first time; it asks for the second time's worth. */
  low: 10_000,
  high: 20_000,
  /** How long a purse is not asked for again after an answer that there is no money. */
  dry: 1000,
  /** The window of a limit of requests a minute. */
  minute: 60_000,
  /** How long a share of such a limit counts as used: within the margins, no clock shows this in less than a minute. */
  sureMinute: 66_000,
  /** How often a statement is signed. */
  statement: 10_000,
  /** A revoked key is refused after this at the latest, wherever the home shard is heard. */
  revocation: 10_000,
};
