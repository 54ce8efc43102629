/** The first version that refuses a prompt that is too long when it is asked to; ones before cut it. */
export const firstThatRefuses = "0.12.6";

/** The version of a build that is no release. */
const unnumbered = "0.0.0";

/** Whether a version cuts prompts that are too long, whatever a request says. */
export function cutsPrompts(version: string): boolean {
  if (version === unnumbered) {
    return false;
  }
  const parts = parseParts(version);
  const first = parseParts(firstThatRefuses);
  const at = first.findIndex((part, index) => (parts[index] ?? 0) !== part);
  return at !== -1 && (parts[at] ?? 0) < (first[at] ?? 0);
}

/** The numbers of a version. A version without numbers counts as older than none. */
function parseParts(version: string): number[] {
  const [, numbers] = /^v?(\d+(?:\.\d+)*)/.exec(version) ?? [];
  return numbers?.split(".").map(Number) ?? [Number.POSITIVE_INFINITY];
}
