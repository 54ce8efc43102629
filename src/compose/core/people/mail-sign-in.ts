import { PendingSeal } from "#lib/ids/pending.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { MailSignIn } from "#src/identity/people/mail-sign-in.ts";
import type { SignUp } from "#src/identity/people/sign-up.ts";
import { UsedProofs } from "#src/identity/people/used-proofs.ts";
import type { Foundation } from "../foundation.ts";
import type { MailPart } from "../mail.ts";

/** Sign-in by a link that comes by mail. Undefined: there is no mail server, or no address for the link. */
export function composeMailSignIn(
  { config: { site }, secrets, storage, clock, random, logger }: Foundation,
  { box }: Pick<MailPart, "box">,
  signUp: SignUp,
): MailSignIn | undefined {
  const { address } = site;
  if (box === undefined || address === undefined) {
    return undefined;
  }
  return new MailSignIn({
    async mailLink(to, token, client) {
      await box.send("sign-in-link", to, { url: `${address}/sign-in/mail/${token}`, minutes: "10" }, client);
    },
    pending: new PendingSeal("mail", createSeal(secrets.peppers, random), clock),
    used: new UsedProofs(storage, clock),
    signUp,
    random,
    logger,
  });
}
