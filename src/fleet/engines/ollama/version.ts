/** The first version that refuses a prompt that is too long when asked to. Earlier versions truncate it. */
export const firstThatRefuses = "0.12.6";

/** The version of a build that is not a release. */
const unnumbered = "0.0.0";

/** Whether a version truncates prompts that are too long, whatever a request says. */
export function cutsPrompts(version: string): boolean {
  if (version === unnumbered) {
    return false;
  }
  const parts = parseParts(version);
  const first = parseParts(firstThatRefuses);
  const at = first.findIndex((part, index) => (parts[index] ?? 0) !== part);
  return at !== -1 && (parts[at] ?? 0) < (first[at] ?? 0);
}

/** The numbers of a version. Without numbers, one that counts as newer than any. */
function parseParts(version: string): number[] {
  const [, numbers] = /^v?(\d+(?:\.\d+)*)/.exec(version) ?? [];
  return numbers?.split(".").map(Number) ?? [Number.POSITIVE_INFINITY];
}
