import type { RunFacts, Settled, SettleStatus } from "#src/money/model/charges/settlement.ts";
import type { ChargedTokens, TokensSoFar } from "#src/money/model/interface.ts";
import type { Hold } from "#src/money/model/ledger.ts";

/** The parts of one hold. */
export interface SharedHolds {
  readonly holds: readonly Hold[];
  /** Resolves once all parts have ended and their charge is durable. */
  settled(): Promise<void>;
}

/**
 * Splits a hold among several answers: each gets a hold of its own with a part of the output. The request is charged
 * once, for all answers together, when the last one has ended. The last settlement waits until the charge is durable;
 * the others resolve at once. The charge's status is failed when any answer failed, else cancelled when the client left
 * any.
 */
export function shareHold(hold: Hold, wanted: readonly ChargedTokens[]): SharedHolds {
  const shared = new SharedHold(hold, wanted.length);
  const outputs = shareOutput(
    hold.outputTokens,
    wanted.map(({ outputTokens }) => outputTokens),
  );
  const holds = wanted.map(({ inputTokens }, index): Hold => {
    return {
      runId: `${hold.runId}-${index}`,
      inputTokens,
      outputTokens: outputs[index] ?? 0,
      progress: (tokens) => shared.progress(index, tokens),
      settle: (tokens, status, facts) => shared.settle(index, tokens, status, facts),
      release: (read) => shared.release(index, read),
    };
  });
  return { holds, settled: async () => void (await shared.charge) };
}

/** Shares tokens in proportion, with at least one for each part and never more than there are. */
function shareOutput(covered: number, wanted: readonly number[]): readonly number[] {
  const all = wanted.reduce((sum, output) => sum + output, 0);
  if (covered >= all) {
    return wanted;
  }
  const spare = covered - wanted.length; // beyond one for each
  return wanted.map((output) => 1 + Math.floor((spare * (output - 1)) / Math.max(1, all - wanted.length)));
}

const rank: Record<SettleStatus, number> = { completed: 0, cancelled: 1, failed: 2 };

class SharedHold {
  /** The charge, once the last part has ended. */
  charge: Promise<Settled | undefined> = Promise.resolve(undefined);
  readonly #hold: Hold;
  readonly #counts: (TokensSoFar | undefined)[];
  readonly #ended: boolean[];
  #status: SettleStatus | undefined;
  #facts: RunFacts | undefined;
  /** What an engine may have read for an answer that is not charged. */
  #read: ChargedTokens | undefined;

  constructor(hold: Hold, parts: number) {
    this.#hold = hold;
    this.#counts = Array(parts).fill(undefined);
    this.#ended = Array(parts).fill(false);
  }

  progress(index: number, tokens: TokensSoFar): void {
    this.#counts[index] = tokens;
    const isCounted = (count: TokensSoFar | undefined) => count !== undefined && !count.isLowerBound;
    const isKnown = this.#counts.every((count, part) => isCounted(count) || this.#ended[part]);
    this.#hold.progress({ ...this.#sum(), ...(!isKnown && { isLowerBound: true }) });
  }

  async settle(
    index: number,
    tokens: ChargedTokens,
    status: SettleStatus,
    facts: RunFacts | undefined,
  ): Promise<Settled | undefined> {
    this.#counts[index] = tokens;
    this.#facts = join(this.#facts, facts);
    if (this.#status === undefined || rank[status] > rank[this.#status]) {
      this.#status = status;
    }
    return this.#end(index);
  }

  release(index: number, read: ChargedTokens | undefined): void {
    this.#counts[index] = undefined;
    this.#read ??= read;
    this.#end(index).catch(() => {}); // `settled` reports the error
  }

  async #end(index: number): Promise<Settled | undefined> {
    this.#ended[index] = true;
    if (this.#ended.includes(false)) {
      return undefined;
    }
    if (this.#status === undefined) {
      this.#hold.release(this.#read);
    } else {
      this.charge = this.#hold.settle(this.#sum(), this.#status, this.#facts);
    }
    return this.charge;
  }

  #sum(): ChargedTokens {
    let [inputTokens, outputTokens] = [0, 0];
    for (const count of this.#counts) {
      inputTokens += count?.inputTokens ?? 0;
      outputTokens += count?.outputTokens ?? 0;
    }
    return { inputTokens, outputTokens };
  }
}

/** The facts of parts together: the earliest first output, and the end and reason of the part that ended last. */
function join(before: RunFacts | undefined, last: RunFacts | undefined): RunFacts | undefined {
  if (before === undefined || last === undefined) {
    return last ?? before;
  }
  const sum = (field: "reasoningTokens" | "cachedInputTokens") =>
    before[field] === undefined && last[field] === undefined
      ? {}
      : { [field]: (before[field] ?? 0) + (last[field] ?? 0) };
  const first = Math.min(before.firstTokenMs ?? Infinity, last.firstTokenMs ?? Infinity);
  return {
    ...before,
    ...last,
    ...(first < Infinity && { firstTokenMs: first }),
    ...sum("reasoningTokens"),
    ...sum("cachedInputTokens"),
  };
}
