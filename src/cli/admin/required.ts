/** Returns a field that every answer of a core has. Throws when it is absent. */
export function required<T>(value: T | undefined): T {
  if (value === undefined) {
    throw new Error("the core's answer is incomplete: is it another version?");
  }
  return value;
}
