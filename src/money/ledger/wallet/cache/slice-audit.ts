import type { Logger } from "#lib/logger.ts";
import type { PicoUsd } from "../../../model/interface.ts";
import type { WalletStore } from "../../../model/store/wallet.ts";
import { noId, type SmallerSlice, type StoredSlice } from "../../../model/store/wallet.ts";
import type { Wallet } from "../wallet.ts";

/** A wallet whose money may be moving. */
export interface AuditedWallet {
  readonly wallet: Wallet;
  /** Set while the store moves its money: the reply may be of a time before this core was taken for dead. */
  readonly moving: Promise<void> | undefined;
  /** Notes that the account's money may have changed. */
  doubt(): void;
  /** Runs a function while nothing else moves the wallet's money in the store. */
  alone<T>(run: () => Promise<T>): Promise<T>;
}

/** The most accounts that are remembered one by one. Beyond that all accounts are compared. */
const mostDoubts = 1000;

/** The differences between the store's slices and this core's. */
export interface SliceDifferences {
  /** Slices that this core does not know: the reply that named them was lost. */
  readonly unknown: readonly StoredSlice[];
  /** Known slices with more money than this core knows of, and their right sizes: the store did not make them smaller. */
  readonly surplus: readonly SmallerSlice[];
  /** Slices that this core believes it has but that it has not. */
  readonly lost: readonly string[];
}

/** Wallets as the audit sees them. */
export interface AuditedWallets {
  /** The wallets in memory. */
  readonly all: ReadonlyMap<string, AuditedWallet>;
  /** Slices that no wallet has and that are closed in time by others. A copy. */
  readonly ended: ReadonlySet<string>;
  open(accountId: string): Promise<AuditedWallet>;
}

/**
 * Compares the open slices that the store says this core has with those that the core knows, account by account, and
 * gives back unknown money: when the reply to a commit is lost, money is leased to this core without its knowledge. An
 * account is judged only while none of its money is being leased or given back.
 */
export class SliceAudit {
  readonly #store: WalletStore;
  readonly #wallets: AuditedWallets;
  readonly #logger: Logger;
  /** Accounts with a failed call to move money, whose outcome nobody knows. */
  readonly #doubtful = new Set<string>();
  #doubtsAll = false;

  constructor(parts: { store: WalletStore; wallets: AuditedWallets; logger: Logger }) {
    this.#store = parts.store;
    this.#wallets = parts.wallets;
    this.#logger = parts.logger;
  }

  /** Notes that the outcome of a call to move an account's money is unknown. */
  doubt(accountId: string): void {
    if (this.#doubtful.size < mostDoubts) {
      this.#doubtful.add(accountId);
    } else {
      this.#doubtsAll = true;
    }
  }

  /** Corrects an account if it is in doubt. Call it while nothing else moves the account's money. */
  async clear(audited: AuditedWallet): Promise<void> {
    const { accountId, broken } = audited.wallet;
    if (!this.#doubtful.has(accountId) || broken) {
      return; // nobody knows what a broken wallet should have
    }
    await this.#correct(audited);
    this.#doubtful.delete(accountId);
  }

  /** Corrects all accounts that are in doubt. */
  async clearAll(): Promise<void> {
    if (this.#doubtsAll) {
      await this.run();
    } else {
      await this.#clearDoubts();
    }
  }

  /** Compares all accounts and corrects those that differ. */
  async run(): Promise<void> {
    const doubted = [...this.#doubtful];
    this.#doubtsAll = false;
    const suspects = await this.#suspects();
    for (const accountId of doubted) {
      this.#doubtful.delete(accountId);
    }
    for (const accountId of suspects) {
      this.doubt(accountId);
    }
    await this.#clearDoubts();
  }

  async #clearDoubts(): Promise<void> {
    for (const accountId of [...this.#doubtful]) {
      // Moves it to the end: if it cannot be corrected, the others come first the next time.
      this.#doubtful.delete(accountId);
      this.#doubtful.add(accountId);
      const audited = await this.#wallets.open(accountId);
      await audited.alone(() => this.clear(audited));
    }
  }

  /** This core's open slices that it does not know. Changes nothing. */
  async unknown(): Promise<StoredSlice[]> {
    const unknown: StoredSlice[] = [];
    for (const accountId of await this.#suspects()) {
      const audited = await this.#wallets.open(accountId);
      unknown.push(...(await audited.alone(() => this.#compare(audited.wallet))).unknown);
    }
    return unknown;
  }

  /** Accounts that seem to differ in the store. Accounts whose money is moving may be among them. */
  async #suspects(): Promise<string[]> {
    const suspects: string[] = [];
    const seen = new Set<string>();
    const { all } = this.#wallets;
    for (let after = noId; ; ) {
      const page = await this.#store.openSlices({ after });
      const last = page.at(-1);
      if (last === undefined) {
        break;
      }
      after = last.accountId;
      const { ended } = this.#wallets;
      for (const [accountId, stored] of Map.groupBy(page, (slice) => slice.accountId)) {
        const known = all.get(accountId)?.wallet.unspent() ?? new Map<string, PicoUsd>();
        const { unknown, surplus, lost } = compareSlices(known, stored, ended);
        if (unknown.length + surplus.length + lost.length > 0) {
          suspects.push(accountId);
        }
        seen.add(accountId);
      }
    }
    for (const { wallet, moving } of all.values()) {
      if (moving !== undefined || (wallet.sliceIds.length > 0 && !seen.has(wallet.accountId))) {
        suspects.push(wallet.accountId);
      }
    }
    return suspects;
  }

  /** Reads the wallet before it asks the store, so that charges that come meanwhile make no difference. */
  async #compare(wallet: Wallet): Promise<SliceDifferences & { readonly stored: readonly StoredSlice[] }> {
    const known = wallet.unspent();
    const { ended } = this.#wallets;
    const stored = await this.#store.openSlices({ accountId: wallet.accountId });
    return { ...compareSlices(known, stored, ended), stored };
  }

  async #correct(audited: AuditedWallet): Promise<void> {
    const { wallet } = audited;
    const { unknown, surplus, lost, stored } = await this.#compare(wallet);
    wallet.lose(new Set(lost));
    const lowered = wallet.lower(new Map(stored.map(({ id, unspent }) => [id, unspent])));
    audited.doubt();
    if (unknown.length > 0) {
      await this.#store.close(unknown.map(({ id }) => id));
    }
    if (surplus.length > 0) {
      await this.#store.giveBack(surplus);
    }
    const { accountId } = wallet;
    if (unknown.length + surplus.length > 0) {
      this.#logger.warn(
        { accountId, unknown, surplus },
        "gave back money that was leased without this core's knowledge",
      );
    }
    if (lost.length > 0 || lowered > 0) {
      this.#logger.warn({ accountId, lost, lowered }, "this core believed in money that it no longer has");
    }
  }
}

/** Compares an account's known slices with the store's. `known` has the most that each may have unspent. */
export function compareSlices(
  known: ReadonlyMap<string, PicoUsd>,
  stored: readonly StoredSlice[],
  ended: ReadonlySet<string>,
): SliceDifferences {
  const found = new Set(stored.map(({ id }) => id));
  return {
    unknown: stored.filter(({ id }) => !known.has(id) && !ended.has(id)),
    surplus: stored.flatMap(({ id, granted, unspent }) => {
      const amount = unspent - (known.get(id) ?? unspent);
      return amount > 0 ? [{ sliceId: id, granted: granted - amount }] : [];
    }),
    lost: [...known.keys()].filter((id) => !found.has(id)),
  };
}
