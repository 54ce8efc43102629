/**
 * A call's arguments as an object, which some engines and templates take instead of the text. Invalid JSON from a model
 * becomes an empty object. `parse` is `parseKeepingDigits` where the result is only written again.
 */
export function parseArguments(json: string, parse: (text: string) => unknown): object {
  try {
    const value: unknown = parse(json || "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
