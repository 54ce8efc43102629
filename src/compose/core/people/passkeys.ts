import { PendingSeal } from "#lib/ids/pending.ts";
import { createSeal } from "#lib/ids/sealed.ts";
import { isLoopback, parseAddress } from "#lib/net/address.ts";
import { ConfigError } from "#src/config/config-error.ts";
import { consoleAddress } from "#src/config/ports/move-ports.ts";
import type { Config } from "#src/config/schema.ts";
import { Ceremony } from "#src/identity/people/passkeys/ceremony.ts";
import { PasskeySignIn } from "#src/identity/people/passkeys/passkey-sign-in.ts";
import type { Passkeys } from "#src/identity/people/passkeys/passkeys.ts";
import { type RelyingParty, toRelyingParty } from "#src/identity/people/passkeys/relying-party.ts";
import type { SignUp } from "#src/identity/people/sign-up.ts";
import { UsedProofs } from "#src/identity/people/used-proofs.ts";
import type { Foundation } from "../foundation.ts";

interface Dependencies {
  readonly passkeys: Passkeys;
  readonly signUp: SignUp;
}

/** Sign-in by passkeys. Undefined: there are none here. */
export function composePasskeys(
  { config, secrets, storage, clock, random, logger }: Foundation,
  { passkeys, signUp }: Dependencies,
): PasskeySignIn | undefined {
  const party = readParty(config);
  if (party === undefined) {
    return undefined;
  }
  return new PasskeySignIn({
    passkeys,
    signUp,
    ceremony: new Ceremony({ party, siteName: config.site.name, logger }),
    used: new UsedProofs(storage, clock),
    pending: new PendingSeal("passkey", createSeal(secrets.peppers, random), clock),
  });
}

/** For whom passkeys are made. Undefined: there are none here. Throws ConfigError where they are demanded all the same. */
export function readParty({ sign_in, site, listen }: Config): RelyingParty | undefined {
  if (sign_in.passkeys === false) {
    return undefined;
  }
  const own = consoleAddress(listen);
  const scheme = listen.tls === undefined ? "http" : "https";
  // A console that listens everywhere is found by a name that only site.address tells.
  const here = isLoopback(parseAddress(own)?.host ?? "") ? `${scheme}://${own}` : undefined;
  const party = toRelyingParty(site.address ?? here ?? "");
  if (party === undefined && sign_in.passkeys === true) {
    throw new ConfigError("sign_in.passkeys: needs site.address with a name over https, or a console on this machine");
  }
  return party;
}
