import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Pending, PendingSeal } from "#lib/ids/pending.ts";
import { invalid } from "#lib/ids/validate-id.ts";
import type { Arrival, Entrance } from "../arrival.ts";
import type { SignUp } from "../sign-up.ts";
import type { UsedProofs } from "../used-proofs.ts";
import type { Ceremony } from "./ceremony.ts";
import { type NewPasskey, type Passkey, type Passkeys, passkeyIssuer } from "./passkeys.ts";

/** What was begun. */
export interface Begun {
  readonly kind: "sign up" | "sign in" | "add";
  readonly challenge: string;
  /** Of the passkey. Empty: none is made. */
  readonly name: string;
  /** Who adds it. Empty: nobody is signed in. */
  readonly personId: string;
}

/** Where a call came from. */
export interface Call {
  /** The browser's address. */
  readonly address: string;
  /** The called method, for the audit log. */
  readonly method: string;
}

/** For a browser: what it makes or asks a passkey from, and what it brings back. */
export interface Offer {
  readonly optionsJson: string;
  readonly pending: string;
}

interface Dependencies {
  readonly passkeys: Passkeys;
  readonly ceremony: Ceremony;
  readonly used: UsedProofs;
  readonly pending: PendingSeal<Begun>;
  readonly signUp: Pick<SignUp, "enter" | "isOpen" | "requireOpen">;
}

/** Sign-up and sign-in by passkeys, and further passkeys of a person. What was begun is finished once, and within ten minutes. */
export class PasskeySignIn {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /** The host that passkeys are for. Empty: nobody has one, and nobody signs up by making one. */
  async readHost(): Promise<string> {
    const { ceremony, passkeys, signUp } = this.#parts;
    return signUp.isOpen || (await passkeys.hasAny()) ? ceremony.host : "";
  }

  /** Throws PERMISSION_DENIED where nobody signs up by themselves. */
  async beginSignUp(name: string): Promise<Offer> {
    this.#parts.signUp.requireOpen();
    return this.#offer("sign up", name, "", []);
  }

  async finishSignUp(credentialJson: string, pending: string, call: Call): Promise<Entrance> {
    const begun = this.#open("sign up", pending);
    const passkey = await this.#readNew(credentialJson, begun);
    return this.#parts.signUp.enter(toArrival(passkey, call, passkey));
  }

  async begin(): Promise<Offer> {
    const { ceremony, pending } = this.#parts;
    const { challenge, optionsJson } = await ceremony.ask();
    return { optionsJson, pending: pending.close({ kind: "sign in", challenge, name: "", personId: "" }) };
  }

  async finish(credentialJson: string, pending: string, call: Call): Promise<Entrance> {
    const { ceremony, passkeys, used, signUp } = this.#parts;
    const { facts, until } = this.#open("sign in", pending);
    const { passkey, counter } = await ceremony.readUse(credentialJson, facts.challenge, (id) => passkeys.find(id));
    await used.use(facts.challenge, until);
    if (!(await passkeys.use(passkey, counter))) {
      throw failure(Reason.UNAUTHENTICATED, "The passkey was used elsewhere at the same moment. Begin again.");
    }
    return signUp.enter(toArrival(passkey, call));
  }

  /** Throws INVALID_ARGUMENT for a person who has too many. */
  async beginAdd(personId: string, name: string): Promise<Offer> {
    return this.#offer("add", name, personId, await this.#parts.passkeys.requireRoom(personId));
  }

  async finishAdd(personId: string, credentialJson: string, pending: string): Promise<Passkey> {
    const begun = this.#open("add", pending);
    if (begun.facts.personId !== personId) {
      throw tooLate();
    }
    return this.#parts.passkeys.add(personId, await this.#readNew(credentialJson, begun));
  }

  async #offer(kind: Begun["kind"], given: string, personId: string, own: readonly Passkey[]): Promise<Offer> {
    const { ceremony, pending } = this.#parts;
    const name = given.trim();
    if (name === "") {
      throw invalid("name", "name must not be empty.");
    }
    const { challenge, optionsJson } = await ceremony.offer(name, own);
    return { optionsJson, pending: pending.close({ kind, challenge, name, personId }) };
  }

  async #readNew(credentialJson: string, { facts, until }: Pending<Begun>): Promise<NewPasskey> {
    const { ceremony, used } = this.#parts;
    const made = await ceremony.readNew(credentialJson, facts.challenge, facts.name);
    await used.use(facts.challenge, until);
    return made;
  }

  #open(kind: Begun["kind"], pending: string): Pending<Begun> {
    const found = this.#parts.pending.open(pending);
    if (found === undefined || found.facts.kind !== kind) {
      throw tooLate();
    }
    return found;
  }
}

function toArrival({ subject, name }: NewPasskey, call: Call, credential?: NewPasskey): Arrival {
  return {
    ...{ kind: "passkey", issuer: passkeyIssuer, subject, name, ...call },
    ...{ email: null, emailVerified: false, claimed: undefined, madeBy: undefined },
    ...(credential && { credential }),
  };
}

function tooLate(): Error {
  return failure(Reason.UNAUTHENTICATED, "It took too long, or was begun by somebody else. Begin again.");
}
