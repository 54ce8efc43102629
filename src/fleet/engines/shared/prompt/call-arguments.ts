/**
 * A call's arguments as an object, which some engines and templates take instead of the text. Invalid JSON from a model
 * becomes an empty object.
 */
export function parseArguments(json: string): object {
  try {
    const value: unknown = JSON.parse(json || "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
