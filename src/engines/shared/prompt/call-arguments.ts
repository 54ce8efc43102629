/**
 * A call's arguments as the object that some engines and templates take in place of its text. What a model
 * wrote wrongly becomes an empty one: nothing better can be made of it.
 */
export function parseArguments(json: string): object {
  try {
    const value: unknown = JSON.parse(json || "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
