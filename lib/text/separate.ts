/** Writes a name in camel case with a separator between its words: "inFlight" as "in-flight". */
export function separate(name: string, separator: "-" | "_"): string {
  return name.replace(/[A-Z]/g, (letter) => separator + letter.toLowerCase());
}
