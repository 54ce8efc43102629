/*
 * Wrong: TypeScript does not know that `JSON.parse` passes the text of each value to a reviver, nor `JSON.rawJSON`,
 * which writes a text as it is. Both are in ECMAScript 2026, and in Node.js since 22.
 * Upstream: TypeScript 7.0.2 (microsoft/TypeScript#61330; #63248 adds the declarations).
 * Still needed while test/lib/text/json/workarounds/source-text.test.ts sees `JSON.rawJSON` refused by the compiler.
 * Delete when it is declared; `JSON` then takes the place of `sourceJson`.
 */

interface SourceJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): object;
}

/** `JSON` with the functions that TypeScript does not declare. */
export const sourceJson = JSON as unknown as SourceJson;
