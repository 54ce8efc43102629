import { isSeen, toPlain } from "#lib/text/printable.ts";
import type { Claims } from "./provider.ts";

const longestName = 200;

/** What a person is called, without characters that would change the text around it. */
export function readName({ name, email, preferred_username, sub }: Claims): string {
  const found = [name, email, preferred_username].find((text) => typeof text === "string" && isSeen(toPlain(text)));
  return toPlain(String(found ?? sub))
    .slice(0, longestName)
    .replaceAll(/\p{Cs}/gu, "");
}
