// Checks the types of what engines send. Each throws a TypeError that names the part and quotes nothing of it.

type Fields = Record<string, unknown>;

/** Whether a part is absent: left out or null. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Checks for an object that is not a list. */
export function checkObject(name: string, value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`${name} is no object`);
  }
  return value as Fields;
}

/** Checks for a list. */
export function checkList(name: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`${name} is no list`);
  }
  return value;
}

/** Checks for a text, or nothing. */
export function checkText(name: string, value: unknown): void {
  if (typeof value !== "string" && !isAbsent(value)) {
    throw new TypeError(`${name} is no text`);
  }
}
