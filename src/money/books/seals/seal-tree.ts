// The hash tree over the receipts of a day, and the chain of days. Whoever has an account's receipts can make its digest
// anew; a few further hashes lead from there to the root of the day, which is published.

import { createHash } from "node:crypto";

/** The part of a receipt that one lot paid. Tokens, rates and amounts are decimal text, in pico-USD. */
export interface DigestedLine {
  readonly lotId: string;
  inputTokens: bigint;
  outputTokens: bigint;
  readonly inputRate: string;
  readonly outputRate: string;
  cost: bigint;
}

/** What of a receipt is sealed. */
export interface DigestedReceipt {
  readonly requestId: string;
  readonly runId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly model: string;
  readonly status: string;
  readonly settledAt: Date;
  readonly inputTokens: string;
  readonly outputTokens: string;
  readonly cost: string;
  readonly shortfall: string;
  /** One for each lot, in the order of spending. */
  readonly lines: readonly DigestedLine[];
}

/** A number of receipts, and their cost in two parts, split as in `sumColumns`. */
interface Sums {
  readonly receipts: number;
  readonly costHigh: number;
  readonly costLow: number;
}

/** What of an account's day is sealed. */
export interface AccountSeal extends Sums {
  readonly accountId: string;
  /** In hexadecimal digits. */
  readonly digest: string;
}

/** What of a day is sealed. */
export interface SealedDay extends Sums {
  /** The books alone have it. */
  readonly id: string;
  readonly number: number;
  readonly day: number;
  /** In hexadecimal digits. */
  readonly root: string;
}

/** The cost of sums, as decimal text. */
const toCost = ({ costHigh, costLow }: Sums): string => String(BigInt(costHigh) * 1_000_000n + BigInt(costLow));

const sha256 = (...parts: readonly (string | Buffer)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) {
    hash.update(part);
  }
  return hash.digest();
};

/** SHA-256 over the fields of a receipt as a JSON array of texts, without spaces. */
export function digestReceipt(receipt: DigestedReceipt): Buffer {
  const { requestId, runId, accountId, keyId, model, status, settledAt, inputTokens, outputTokens } = receipt;
  const lines = receipt.lines.map((line) => [
    line.lotId,
    String(line.inputTokens),
    String(line.outputTokens),
    line.inputRate,
    line.outputRate,
    String(line.cost),
  ]);
  const fields = [requestId, runId, accountId, keyId, model, status, settledAt.toISOString()];
  return sha256(JSON.stringify([...fields, inputTokens, outputTokens, receipt.cost, receipt.shortfall, lines]));
}

/** Makes the digest of an account: SHA-256 over the digests of its receipts, one after the other. */
export const newAccountDigest = () => createHash("sha256");

/** Leaves and inner nodes begin with different bytes, so that none can pass for the other. */
const [leaf, inner] = [Buffer.of(0), Buffer.of(1)];

/** The leaf of an account in the tree of its day. */
function digestAccount(account: AccountSeal): Buffer {
  const { accountId, receipts, digest } = account;
  return sha256(leaf, JSON.stringify([accountId, String(receipts), toCost(account), digest]));
}

/** A neighbour on the way from a leaf to the root. */
export interface Step {
  readonly side: "left" | "right";
  /** In hexadecimal digits. */
  readonly hash: string;
}

interface Node {
  readonly hash: Buffer;
  /** Whether the account whose path is wanted is below it. */
  readonly isOurs: boolean;
}

/**
 * The tree of a day, made account by account, ordered by id, or of a part of it: a power of two of accounts is one node.
 * A node without a neighbour goes up as it is.
 */
export class DayTree {
  /** The steps from the wanted account to the root. */
  readonly path: Step[] = [];
  /** On each level, the node that waits for its right neighbour. */
  readonly #waiting: (Node | undefined)[] = [];

  add(account: AccountSeal, isOurs = false): void {
    this.addNode(digestAccount(account), isOurs);
  }

  addNode(hash: Buffer, isOurs: boolean): void {
    let node: Node = { hash, isOurs };
    for (let level = 0; ; level++) {
      const left = this.#waiting[level];
      if (left === undefined) {
        this.#waiting[level] = node;
        return;
      }
      this.#waiting[level] = undefined;
      node = this.#join(left, node);
    }
  }

  /** The root in hexadecimal digits. Nothing can be added afterwards. */
  finish(): string {
    let node: Node | undefined;
    for (const left of this.#waiting) {
      node = left === undefined || node === undefined ? (left ?? node) : this.#join(left, node);
    }
    return (node?.hash ?? sha256(leaf)).toString("hex");
  }

  #join(left: Node, right: Node): Node {
    if (left.isOurs) {
      this.path.push({ side: "right", hash: right.hash.toString("hex") });
    } else if (right.isOurs) {
      this.path.push({ side: "left", hash: left.hash.toString("hex") });
    }
    return { hash: sha256(inner, left.hash, right.hash), isOurs: left.isOurs || right.isOurs };
  }
}

/** The root of a day's tree over these accounts, ordered by id. */
export function digestDay(accounts: readonly AccountSeal[]): string {
  const tree = new DayTree();
  for (const account of accounts) {
    tree.add(account);
  }
  return tree.finish();
}

/** The root that steps lead to from an account's leaf, in hexadecimal digits. */
export function climb(account: AccountSeal, path: readonly Step[]): string {
  let node = digestAccount(account);
  for (const { side, hash } of path) {
    const other = Buffer.from(hash, "hex");
    node = side === "left" ? sha256(inner, other, node) : sha256(inner, node, other);
  }
  return node.toString("hex");
}

/**
 * SHA-256 over the sums of a day, in hexadecimal digits. The seal's id is among them, so that what the whole service
 * earned on a day cannot be found by trying numbers.
 */
export const digestSums = (seal: Sums & Pick<SealedDay, "id">): string =>
  sha256(JSON.stringify([seal.id, String(seal.receipts), toCost(seal)])).toString("hex");

/** The chain with one more seal. `before`: the chain until then. Empty: it is the first seal. */
export const extendChain = (before: string, seal: SealedDay): string =>
  chainSums(before, { ...seal, sums: digestSums(seal) });

/** The same of what is published of a seal. */
export function chainSums(before: string, seal: Pick<SealedDay, "number" | "day" | "root"> & { sums: string }): string {
  const { number, day, root, sums } = seal;
  return sha256(JSON.stringify([before, String(number), String(day), root, sums])).toString("hex");
}
