/** The fewest characters of a secret that people set, and the fewest different ones: 32 hexadecimal digits have both. */
const fewestCharacters = 32;
const fewestDifferent = 8;

/** Whether a secret is too short to be a random one, or a placeholder such as "replace-me". */
export function isGuessable(secret: string): boolean {
  return secret.length < fewestCharacters || new Set(secret).size < fewestDifferent;
}

/** What to do about one. */
export const strongSecret = `needs ${fewestCharacters} characters or more that nobody can guess: openssl rand -hex 32 prints some`;
