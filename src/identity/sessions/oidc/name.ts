import type { Claims } from "./provider.ts";

const longestName = 200;

/** What a person is called, without characters that would change the text around it. */
export function readName({ name, email, preferred_username, sub }: Claims): string {
  const found = [name, email, preferred_username].find((text) => typeof text === "string" && text.trim() !== "");
  return String(found ?? sub)
    .replaceAll(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, "")
    .slice(0, longestName);
}
