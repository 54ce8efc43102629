import { timingSafeEqual } from "node:crypto";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import { isChecked, newCheckedSecret, toDigest } from "#lib/ids/checked-secret.ts";
import type { PendingSeal } from "#lib/ids/pending.ts";
import type { Random } from "#lib/ids/random.ts";
import type { Logger } from "#lib/logger.ts";
import type { Arrival, Entrance } from "./arrival.ts";
import type { SignUp } from "./sign-up.ts";
import type { UsedProofs } from "./used-proofs.ts";

/** Who vouches for addresses: a mail that came there does. */
export const mailIssuer = "email";
const prefix = "tgml_";
/** The most mails that are written at once. Others are told to try again. */
const mostAtOnce = 32;

/** Mails the link of a token. `client`: the address of whoever asked. */
export type MailLink = (address: string, token: string, client: string) => Promise<void>;

/** What was begun. The token itself is in the mail alone. */
export interface BegunMail {
  /** In lower case. */
  readonly address: string;
  readonly digest: string;
}

interface Dependencies {
  readonly mailLink: MailLink;
  readonly pending: PendingSeal<BegunMail>;
  readonly used: UsedProofs;
  readonly signUp: Pick<SignUp, "enter" | "isOpen" | "isKnown">;
  readonly random: Random;
  readonly logger: Logger;
}

/** Sign-in by a link that comes by mail: once, within ten minutes, in the browser that asked for it. */
export class MailSignIn {
  readonly #parts: Dependencies;
  #underWay = 0;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  /**
   * Answers the same, and as soon, whether the address is known, gets a mail, or has had too many. Throws OVERLOADED.
   */
  begin(email: string, client: string): { readonly pending: string } {
    const { pending, random } = this.#parts;
    if (this.#underWay >= mostAtOnce) {
      throw failure(Reason.OVERLOADED, "Many people sign in at the moment. Try again.");
    }
    const address = email.toLowerCase();
    const token = newCheckedSecret(prefix, random);
    this.#underWay += 1;
    void this.#mail(address, token, client);
    return { pending: pending.close({ address, digest: toDigest(token).toString("hex") }) };
  }

  /** Throws UNAUTHENTICATED, and PERMISSION_DENIED for somebody without an account where nobody signs up. */
  async finish(
    token: string,
    pending: string,
    call: { readonly address: string; readonly method: string },
  ): Promise<Entrance> {
    const begun = this.#parts.pending.open(pending);
    const { digest } = begun?.facts ?? { digest: "" };
    if (begun === undefined || !(token.startsWith(prefix) && isChecked(token)) || !isSame(digest, toDigest(token))) {
      const message =
        "The link was used, is older than ten minutes, or another browser asked for it. Ask for another one.";
      throw failure(Reason.UNAUTHENTICATED, message);
    }
    await this.#parts.used.use(digest, begun.until);
    return this.#parts.signUp.enter(toArrival(begun.facts.address, call));
  }

  /** Mails the link, unless it would lead nowhere. */
  async #mail(address: string, token: string, client: string): Promise<void> {
    const { signUp, mailLink, logger } = this.#parts;
    try {
      if (signUp.isOpen || (await signUp.isKnown(mailIssuer, address))) {
        await mailLink(address, token, client);
      }
    } catch (error) {
      logger.error({ err: error }, "the mail of a sign-in could not be written");
    } finally {
      this.#underWay -= 1;
    }
  }
}

function toArrival(email: string, call: { readonly address: string; readonly method: string }): Arrival {
  const [name = email] = email.split("@");
  return {
    ...{ kind: "email", issuer: mailIssuer, subject: email, name, email, emailVerified: true, ...call },
    ...{ claimed: undefined, madeBy: undefined },
  };
}

function isSame(digest: string, other: Buffer): boolean {
  const bytes = Buffer.from(digest, "hex");
  return bytes.length === other.length && timingSafeEqual(bytes, other);
}
