import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isoCBOR } from "@simplewebauthn/server/helpers";

const hash = (data: string | Uint8Array) => createHash("sha256").update(data).digest();
const toText = (data: Uint8Array) => Buffer.from(data).toString("base64url");
const flags = { present: 0x01, verified: 0x04, attested: 0x40 };

/** What an authenticator or a page does otherwise than it should. */
export interface Deviation {
  readonly origin?: string;
  readonly host?: string;
  readonly isUnverified?: boolean;
  /** In place of the next one. */
  readonly counter?: number;
}

/** A passkey in software, and the browser around it. */
export class Authenticator {
  readonly #origin: string;
  readonly #host: string;
  readonly #id: Buffer;
  readonly #key: { readonly privateKey: KeyObject; readonly publicKey: KeyObject };
  #counter = 0;

  /** `id`: the credential's, which whoever makes it may choose. */
  constructor(origin: string, id: Buffer = randomBytes(32)) {
    this.#origin = origin;
    this.#host = new URL(origin).hostname;
    this.#id = id;
    this.#key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  }

  /** A browser's answer to what a sign-up, or a further passkey, offers. */
  make(optionsJson: string, deviation: Deviation = {}): string {
    const { x = "", y = "" } = this.#key.publicKey.export({ format: "jwk" });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.#id.length);
    const cose = new Map<number, number | Uint8Array>([
      ...([
        [1, 2],
        [3, -7],
        [-1, 1],
      ] as const),
      ...([
        [-2, bytes(x)],
        [-3, bytes(y)],
      ] as const),
    ]);
    const attested = [Buffer.alloc(16), length, this.#id, Buffer.from(isoCBOR.encode(cose))];
    const authData = this.#authenticate(flags.attested, deviation, attested);
    const attestation = new Map<string, string | Uint8Array | Map<string, string>>([
      ["fmt", "none"],
      ["attStmt", new Map<string, string>()],
      ["authData", new Uint8Array(authData)],
    ]);
    const attestationObject = toText(isoCBOR.encode(attestation));
    return this.#answer({ attestationObject, clientDataJSON: toText(this.#state("create", optionsJson, deviation)) });
  }

  /** A browser's answer to what a sign-in asks. */
  use(optionsJson: string, deviation: Deviation = {}): string {
    const state = this.#state("get", optionsJson, deviation);
    this.#counter += 1;
    const authData = this.#authenticate(0, deviation);
    const signature = sign("sha256", Buffer.concat([authData, hash(state)]), this.#key.privateKey);
    const facts = { authenticatorData: toText(authData), signature: toText(signature) };
    return this.#answer({ ...facts, clientDataJSON: toText(state) });
  }

  get id(): Buffer {
    return this.#id;
  }

  #answer(response: object): string {
    const id = toText(this.#id);
    return JSON.stringify({ id, rawId: id, type: "public-key", clientExtensionResults: {}, response });
  }

  #state(verb: "create" | "get", optionsJson: string, { origin = this.#origin }: Deviation): Buffer {
    const { challenge } = JSON.parse(optionsJson) as { challenge: string };
    return Buffer.from(JSON.stringify({ type: `webauthn.${verb}`, challenge, origin, crossOrigin: false }));
  }

  #authenticate(more: number, deviation: Deviation, rest: readonly Buffer[] = []): Buffer {
    const { host = this.#host, isUnverified = false, counter = this.#counter } = deviation;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const flag = flags.present | (isUnverified ? 0 : flags.verified) | more;
    return Buffer.concat([hash(host), Buffer.from([flag]), count, ...rest]);
  }
}

function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "base64url"));
}
