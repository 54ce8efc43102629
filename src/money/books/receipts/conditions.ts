/** Conditions of a query and their parameters. */
export class Conditions {
  readonly #conditions: string[] = [];
  readonly parameters: unknown[] = [];

  /** Adds a condition in SQL, with a `?` for each parameter. */
  add(condition: string, ...parameters: unknown[]): void {
    this.#conditions.push(condition);
    this.parameters.push(...parameters);
  }

  /** The `where` clause. Empty without conditions. */
  get where(): string {
    return this.#conditions.length === 0 ? "" : `where ${this.#conditions.join(" and ")}`;
  }
}
