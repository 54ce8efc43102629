import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { Reason } from "#gen/tollgate/errors/v1/error_detail_pb.js";
import { failure } from "#lib/errors/failure.ts";
import type { Logger } from "#lib/logger.ts";
import type { NewPasskey, Passkey } from "./passkeys.ts";
import type { RelyingParty } from "./relying-party.ts";

/** The longest id of a credential that is stored. */
const longestId = 255;

interface Dependencies {
  readonly party: RelyingParty;
  /** What people call the service. */
  readonly siteName: string;
  readonly logger: Logger;
}

/** Makes and checks passkeys by WebAuthn. The library is loaded when the first person asks for it. */
export class Ceremony {
  readonly #parts: Dependencies;

  constructor(parts: Dependencies) {
    this.#parts = parts;
  }

  get host(): string {
    return this.#parts.party.id;
  }

  /** What a browser makes a passkey from. `own`: those that the person has, which are not made again on the same device. */
  async offer(name: string, own: readonly Passkey[]): Promise<{ challenge: string; optionsJson: string }> {
    const { generateRegistrationOptions } = await import("@simplewebauthn/server");
    const { party, siteName } = this.#parts;
    const options = await generateRegistrationOptions({
      rpName: siteName,
      rpID: party.id,
      userName: name,
      userDisplayName: name,
      attestationType: "none",
      excludeCredentials: own.map(({ subject }) => ({ id: subject })),
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
    });
    return { challenge: options.challenge, optionsJson: JSON.stringify(options) };
  }

  /** The passkey that a browser has made. Throws UNAUTHENTICATED. */
  async readNew(credentialJson: string, challenge: string, name: string): Promise<NewPasskey> {
    return this.#explain(async () => {
      const { verifyRegistrationResponse } = await import("@simplewebauthn/server");
      const response = JSON.parse(credentialJson) as RegistrationResponseJSON;
      const { registrationInfo } = await verifyRegistrationResponse({ response, ...this.#expect(response, challenge) });
      const made = registrationInfo?.credential;
      if (made === undefined || made.id.length > longestId) {
        throw new Error(made === undefined ? "it was not signed" : "the credential's id is too long");
      }
      return { subject: made.id, name, publicKey: Buffer.from(made.publicKey), counter: made.counter };
    });
  }

  /** What a browser asks a passkey to sign. */
  async ask(): Promise<{ challenge: string; optionsJson: string }> {
    const { generateAuthenticationOptions } = await import("@simplewebauthn/server");
    const options = await generateAuthenticationOptions({ rpID: this.host, userVerification: "required" });
    return { challenge: options.challenge, optionsJson: JSON.stringify(options) };
  }

  /** The passkey that signed, and its counter afterwards. Throws UNAUTHENTICATED, also where the counter went back. */
  async readUse(
    credentialJson: string,
    challenge: string,
    find: (subject: string) => Promise<Passkey | undefined>,
  ): Promise<{ passkey: Passkey; counter: number }> {
    return this.#explain(async () => {
      const { verifyAuthenticationResponse } = await import("@simplewebauthn/server");
      const response = JSON.parse(credentialJson) as AuthenticationResponseJSON;
      const passkey = await find(String(response.id));
      if (passkey === undefined) {
        throw new Error("it is not known here");
      }
      const { publicKey, counter } = passkey;
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        credential: { id: passkey.subject, publicKey: new Uint8Array(publicKey), counter },
        ...this.#expect(response, challenge),
      });
      if (!verified) {
        throw new Error("its signature is wrong");
      }
      return { passkey, counter: authenticationInfo.newCounter };
    });
  }

  /** What an answer must have been made for. The library takes origins by their names alone. */
  #expect({ response }: { readonly response: { readonly clientDataJSON: string } }, expectedChallenge: string) {
    const { party } = this.#parts;
    const { origin } = JSON.parse(Buffer.from(response.clientDataJSON, "base64url").toString()) as { origin?: unknown };
    const expectedOrigin = typeof origin === "string" && party.isOrigin(origin) ? [origin] : [];
    return { expectedChallenge, expectedOrigin, expectedRPID: party.id, requireUserVerification: true };
  }

  async #explain<Answer>(read: () => Promise<Answer>): Promise<Answer> {
    try {
      return await read();
    } catch (error) {
      this.#parts.logger.info({ err: error }, "a passkey was refused");
      throw failure(Reason.UNAUTHENTICATED, "The passkey was not accepted. Begin again.");
    }
  }
}
