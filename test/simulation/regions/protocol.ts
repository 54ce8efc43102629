/** What a purse bounds: an account's money, a key's budget in one window, or requests a minute. */
export type PurseKind = "money" | "budget" | "rate";

/** What everybody may know of a lot: enough to make it anew where a failover has lost it. */
export interface LotFacts {
  /** Follows from the payment's reference, or from the limit and its window: the same payment is the same lot. */
  readonly id: string;
  readonly purseId: string;
  readonly kind: PurseKind;
  /** Its place in the order of spending. */
  readonly order: number;
  readonly amount: number;
}

/** What became of a slice, each counted from its beginning: none ever falls, so of two reports the larger number is right. */
export interface Counters {
  /** By the home shard. */
  granted: number;
  /** By the region's receipts. */
  spent: number;
  /** By the regional bank. */
  returned: number;
}

/** One region's part of one lot in one epoch, as a report tells it. */
export interface SliceReport extends Readonly<Counters> {
  readonly lot: LotFacts;
  readonly epoch: number;
}

/** Asks for money up to a total, so that a wish that comes twice is granted once. */
export interface Wish {
  readonly purseId: string;
  /**
   * Granted of this purse to this region in this epoch, all told: what the first request that waits needs, what all that
   * wait need, and what is wanted when there is plenty.
   */
  readonly leastTo: number;
  readonly queueTo: number;
  readonly mostTo: number;
}

/** What a region says it granted, spent and returned, signed. */
export interface Statement {
  readonly region: string;
  readonly epoch: number;
  /** Of two statements of an epoch the later one has the larger number. */
  readonly number: number;
  /** When it was made by the world's time, for the age of the proof. */
  readonly at: number;
  readonly rows: readonly (Readonly<Counters> & { readonly lotId: string })[];
  readonly signature: Uint8Array;
}

/** A region reports, and asks for what it lacks. */
export interface Exchange {
  readonly region: string;
  /** Names the region's store: another one than before is a new one, whatever epoch it names. */
  readonly store: string;
  /** 0: its store is empty, and it asks for an epoch. */
  readonly epoch: number;
  /** Epochs up to this one were ended in its store, by somebody who read it. */
  readonly fenced: number;
  /** The newest generation of the home shard that it has heard. */
  readonly generation: number;
  readonly number: number;
  /** Whether all slices of all epochs that its store ever began are reported. */
  readonly isFull: boolean;
  readonly reports: readonly SliceReport[];
  readonly wishes: readonly Wish[];
  /** Revocations up to this one are kept. */
  readonly revocation: number;
  readonly statement: Statement | undefined;
}

/** How a purse stands, for one region. */
export interface PurseState {
  readonly purseId: string;
  /** Money is short: what is not held goes home at once, and each hold is asked for. */
  readonly isPoor: boolean;
  /** Money of the purse that is neither spent nor this region's. */
  readonly elsewhere: number;
  /** Shares of a limit that was lowered: they go home before anybody uses them again. */
  readonly excess: number;
}

export interface Revocation {
  readonly number: number;
  readonly keyId: string;
}

/** The home shard answers, or speaks unasked. */
export interface Notice {
  readonly region: string;
  /** The store that is spoken to. What was meant for one that is no more is not for its successor. */
  readonly store: string;
  readonly epoch: number;
  readonly generation: number;
  /** The exchange that this answers; from its sending on the term is counted. Absent: unasked, and no term. */
  readonly answers?: number;
  readonly grants: readonly (Readonly<LotFacts> & { readonly granted: number })[];
  readonly purses: readonly PurseState[];
  readonly revocations: readonly Revocation[];
}

/** The numbers that both sides go by, in milliseconds. */
export const times = {
  /** So long a region may admit after an exchange was answered. */
  term: 30_000,
  /**
   * A region ends so long before its term, and the home shard takes it for silent so long after it: clocks that differ
   * by less than both margins in a term (a tenth) break no promise.
   */
  margin: 1500,
  /** No request runs longer. */
  longestRun: 20_000,
  /** A region exchanges at least so often. */
  beat: 2500,
  /** What happens so close together goes in one exchange. */
  linger: 15,
  /** An exchange without an answer is repeated. */
  retry: 1000,
  /** A request waits so long for money that others hold. */
  patience: 2000,
  /** What was not used for so long goes home. */
  idle: 10_000,
  /** A region asks for more when it has less than it spends in this time, and asks for what it spends in the other. */
  low: 10_000,
  high: 20_000,
  /** After an answer that there is nothing, a purse is not asked for again so soon. */
  dry: 1000,
  /** The window of a limit of requests a minute. */
  minute: 60_000,
  /** So long a share of such a limit counts as used: no clock within the margins shows it sooner than in a minute. */
  sureMinute: 66_000,
  /** A statement is signed so often. */
  statement: 10_000,
  /** A revoked key is refused everywhere that the home shard is heard, at latest after this. */
  revocation: 10_000,
};
