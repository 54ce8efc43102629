/** Parameters as Stripe's clients nest them: `metadata[a]=b`, `line_items[0][quantity]=1`, `enabled_events[]=*`. */
export interface Params {
  readonly [name: string]: string | Params | undefined;
}

const unsafe = new Set(["__proto__", "constructor", "prototype"]);

/** Reads a form whose names nest by brackets. */
export function readForm(text: string): Params {
  const all: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const path = [...name.matchAll(/^[^[\]]+|(?<=\[)[^[\]]*(?=\])/g)].map(([part]) => part);
    const last = path.pop();
    if (last === undefined || [...path, last].some((part) => unsafe.has(part))) {
      continue;
    }
    let at = all;
    for (const part of path) {
      at[part] ??= {};
      at = at[part] as Record<string, unknown>;
    }
    at[last === "" ? String(Object.keys(at).length) : last] = value;
  }
  return all as Params;
}

/** A text among parameters. Undefined: it is absent. */
export function text(params: Params | undefined, name: string): string | undefined {
  const value = params?.[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Parameters below a name. */
export function below(params: Params | undefined, name: string): Params {
  const value = params?.[name];
  return typeof value === "object" ? value : {};
}

/** The texts below a name, such as metadata. */
export function texts(params: Params, name: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(below(params, name)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
