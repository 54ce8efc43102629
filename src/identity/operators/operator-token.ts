import { isChecked, newCheckedSecret } from "#lib/ids/checked-secret.ts";
import type { Random } from "#lib/ids/random.ts";

/** The prefix of every operator's token. The underscore tells it from an API key. */
const prefix = "tgop_";
const shape = /^tgop_[0-9A-Za-z]{49}$/;

/** Makes a token. */
export function newOperatorToken(random: Random): string {
  return newCheckedSecret(prefix, random);
}

/** Whether a text can be a token of a stored operator at all. */
export function isOperatorToken(text: string): boolean {
  return shape.test(text) && isChecked(text);
}
