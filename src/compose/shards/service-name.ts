/**
 * The id of the service, which each of its databases has. It comes from the first database, or from whichever is there
 * before it.
 */
export class ServiceName {
  #known: string | undefined;

  /** Undefined: no database has named it yet. */
  get known(): string | undefined {
    return this.#known;
  }

  /** Takes the id that a database has. Throws when another database has a different one. */
  adopt(said: string): void {
    if (this.#known !== undefined && this.#known !== said) {
      throw new Error("it is one of another service's");
    }
    this.#known = said;
  }
}
