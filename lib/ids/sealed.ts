import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { Pepper } from "./pepper.ts";
import type { Random } from "./random.ts";

const algorithm = "aes-256-gcm";
const ivBytes = 12;
const tagBytes = 16;

/** Encrypts and decrypts secrets for the database, so that a reader of the database alone can sign nothing. */
export interface Seal {
  close(secret: string): string;
  /** Throws when the pepper that sealed the secret is gone. */
  open(sealed: string): string;
}

/** Seals with the newest key pepper. Opens secrets that any of the peppers has sealed. */
export function createSeal(peppers: readonly [Pepper, ...Pepper[]], random: Random): Seal {
  const [newest] = peppers;
  return {
    close(secret) {
      const iv = Buffer.from(random.bytes(ivBytes));
      const cipher = createCipheriv(algorithm, deriveKey(newest), iv);
      const text = Buffer.concat([cipher.update(secret, "utf8"), cipher.final()]);
      return `${newest.version}:${Buffer.concat([iv, cipher.getAuthTag(), text]).toString("base64")}`;
    },
    open(sealed) {
      const [version, text = ""] = sealed.split(":");
      const pepper = peppers.find((one) => String(one.version) === version);
      if (pepper === undefined) {
        throw new Error(`the key pepper of version ${version}, which sealed the secret, is gone: rotate the secret`);
      }
      const bytes = Buffer.from(text, "base64");
      const cipher = createDecipheriv(algorithm, deriveKey(pepper), bytes.subarray(0, ivBytes));
      cipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
      return Buffer.concat([cipher.update(bytes.subarray(ivBytes + tagBytes)), cipher.final()]).toString("utf8");
    },
  };
}

function deriveKey({ secret }: Pepper): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "", "tollgate webhook secrets", 32));
}
