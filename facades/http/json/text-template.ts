/** A placeholder that no id or model name contains: the JSON is written once around it and split there. */
const mark = "\u0001text\u0001";

/**
 * Writes JSON texts that differ in one string only. The rest, which is most of a streamed token, is encoded once.
 *
 * @param write returns the JSON text around a given string
 */
export function textTemplate(write: (text: string) => string): (text: string) => string {
  let around: readonly string[] | undefined;
  return (text) => {
    around ??= write(mark).split(JSON.stringify(mark));
    return `${around[0]}${JSON.stringify(text)}${around[1]}`;
  };
}
