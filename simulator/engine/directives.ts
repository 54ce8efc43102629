/** A directive in a prompt: `[[sim:name]]` or `[[sim:name=value]]`. The value ends at the first `]]`. */
export interface Directive {
  readonly name: string;
  /** Empty: the directive has no value. */
  readonly value: string;
}

const form = /\[\[sim:([a-z_]+)(?:=([\s\S]*?))?\]\]/g;

const nothing: readonly Directive[] = [];

/** The directives in a text, in order. */
export function directivesIn(text: string): readonly Directive[] {
  if (!text.includes("[[sim:")) {
    return nothing;
  }
  return Array.from(text.matchAll(form), ([, name = "", value = ""]) => ({ name, value }));
}

/** A text without its directives. */
export function withoutDirectives(text: string): string {
  return text.includes("[[sim:") ? text.replace(form, "").trim() : text;
}

/** The number that a directive gives, 0 or more. Undefined: the directive is absent, or its value is not a number. */
export function parseNumber(directives: readonly Directive[], name: string): number | undefined {
  const value = directives.find((directive) => directive.name === name)?.value;
  return value !== undefined && /^\d{1,7}$/.test(value) ? Number(value) : undefined;
}
