/** The accounts for which something failed, so that one of them keeps no other from what it waits for. */
export class AccountFailures {
  readonly #accounts = new Set<string>();
  readonly #errors: unknown[] = [];

  /** Does some work for accounts. Its failure is theirs. */
  async of(accountIds: Iterable<string>, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#errors.push(error);
      for (const id of accountIds) {
        this.#accounts.add(id);
      }
    }
  }

  has(accountId: string): boolean {
    return this.#accounts.has(accountId);
  }

  /** Throws the first failure, if there was any. */
  rethrow(): void {
    if (this.#errors.length > 0) {
      throw this.#errors[0];
    }
  }
}
