/** Faults of the API. */
export class ApiFaults {
  /** The next requests that change something fail with 500 before anything happens. */
  failing = 0;
  /** The next requests that change something happen, and their answers are lost. */
  silent = 0;
  /** Both meet only requests to this path; undefined: to any. */
  path: string | undefined;
  /** While answers are lost and a change has happened, readers lose theirs too: nobody learns of it. */
  hides = false;
  #hasLost = false;

  /** Whether a request fails, which counts it. */
  fails(method: string, path: string): boolean {
    const isMet = this.failing > 0 && this.#meets(path) && method !== "GET";
    if (isMet) {
      this.failing--;
    }
    return isMet;
  }

  /** Whether an answer is lost, which counts it. */
  loses(method: string, path: string): boolean {
    const isMet = this.silent > 0 && this.#meets(path) && (method !== "GET" || (this.hides && this.#hasLost));
    if (isMet) {
      this.silent--;
      this.#hasLost = true;
    }
    return isMet;
  }

  #meets(path: string): boolean {
    return this.path === undefined || this.path === path;
  }
}
