/** What names the service in each of its databases: the first one says it, or whichever of the others is there before it. */
export class ServiceName {
  #known: string | undefined;

  /** Undefined: no database has said it yet. */
  get known(): string | undefined {
    return this.#known;
  }

  /** Takes what a database says. Throws when another one said otherwise. */
  adopt(said: string): void {
    if (this.#known !== undefined && this.#known !== said) {
      throw new Error("it is one of another service's");
    }
    this.#known = said;
  }
}
