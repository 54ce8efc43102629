import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

// Node signs but does not write certificates, so the tests write the DER of X.509 themselves (RFC 5280).

/** A certificate and its private key, in PEM. */
export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** A certificate authority for one test. */
export interface Authority {
  /** Its own certificate, in PEM. */
  readonly ca: string;
  /** Issues a certificate for localhost and 127.0.0.1, valid for servers and clients. */
  issue(name: string, valid?: Validity): Identity;
}

export interface Validity {
  readonly from: Date;
  readonly to: Date;
}

const dayMs = 86_400_000;

/** Creates a certificate authority. */
export function createAuthority(name = "test authority"): Authority {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const valid = { from: new Date(Date.now() - dayMs), to: new Date(Date.now() + 365 * dayMs) };
  const isAuthority = extension("551d13", sequence(der(0x01, Buffer.from([0xff]))));
  const ca = certificate({ issuer: name, subject: name, publicKey, signer: privateKey, valid, more: isAuthority });
  return {
    ca,
    issue(subject, dates = valid) {
      const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const names = sequence(der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1])));
      const more = extension("551d11", names);
      const fields = { issuer: name, subject, publicKey: keys.publicKey, signer: privateKey, valid: dates, more };
      return { cert: certificate(fields), key: keys.privateKey.export({ type: "pkcs8", format: "pem" }).toString() };
    },
  };
}

/** Writes an identity as NAME.crt and NAME.key, and returns their paths. */
export async function writeIdentity(folder: string, name: string, { cert, key }: Identity): Promise<Identity> {
  const files = { cert: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key, { mode: 0o600 });
  return files;
}

interface Fields {
  readonly issuer: string;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly valid: Validity;
  /** One further extension. */
  readonly more: Buffer;
}

function certificate({ issuer, subject, publicKey, signer, valid, more }: Fields): string {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([0x01]), randomBytes(8)])),
    ecdsaWithSha256,
    distinguishedName(issuer),
    sequence(time(valid.from), time(valid.to)),
    distinguishedName(subject),
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(more)),
  );
  const signature = createSign("sha256").update(body).sign(signer);
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, Buffer.concat(parts));
const oid = (hex: string) => der(0x06, Buffer.from(hex, "hex"));
const ecdsaWithSha256 = sequence(oid("2a8648ce3d040302"));
const extension = (id: string, value: Buffer) => sequence(oid(id), der(0x04, value));
const distinguishedName = (common: string) =>
  sequence(der(0x31, sequence(oid("550403"), der(0x0c, Buffer.from(common)))));
const time = (date: Date) => der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replaceAll(/[-:T]/g, "")}Z`));
