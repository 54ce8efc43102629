import type { FleetRequest } from "../interface.ts";
import type { Member } from "../member.ts";

/** What is known of a request when its server is chosen. */
export interface Route {
  /** Undefined for embeddings. */
  readonly request: FleetRequest | undefined;
  /** Tokens of the prompt, roughly. */
  readonly promptTokens: number;
}

/** A way to choose a server. */
export interface Policy {
  /** One of the candidates, of which there is at least one. */
  choose(candidates: readonly Member[], route: Route): Member;
}
