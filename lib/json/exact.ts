// TypeScript does not declare these two yet.
declare global {
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
    rawJSON(text: string): object;
  }
}

/**
 * Parses JSON whose numbers are written again, by `JSON.stringify`, as they were: an id of more digits than a double holds
 * would become another one. To whoever looks at them they are objects.
 */
export function parseExactJson(text: string): unknown {
  return JSON.parse(text, (_key: string, value: unknown, { source }: { readonly source?: string }) =>
    typeof value === "number" && source !== undefined ? JSON.rawJSON(source) : value,
  );
}
