// Types of what engines send. What is wrong throws a TypeError that names the part and quotes nothing of it.

type Fields = Record<string, unknown>;

/** Whether a part is left out, in either way to do so. */
export function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** An object that is no list. */
export function checkObject(name: string, value: unknown): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TypeError(`${name} is no object`);
  }
  return value as Fields;
}

/** A list. */
export function checkList(name: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new TypeError(`${name} is no list`);
  }
  return value;
}

/** A text, or nothing. */
export function checkText(name: string, value: unknown): void {
  if (typeof value !== "string" && !isAbsent(value)) {
    throw new TypeError(`${name} is no text`);
  }
}
