/** Command-line options by name. True: an option without a value. Undefined: the option is left out. */
export type CommandOptions = Readonly<Record<string, string | number | true | undefined>>;

/** A command line that can be pasted into a shell, with each option on its own line. */
export function commandLine(program: string, options: CommandOptions): string {
  const words = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) {
      return [];
    }
    return value === true ? [name] : [`${name} ${quoted(String(value))}`];
  });
  return [program, ...words].join(" \\\n  ");
}

/** A word quoted for a shell, where necessary. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The port in a server's URL. Undefined: it has none. */
export function parsePort(url: string): number | undefined {
  const port = /:(\d+)\/?$/.exec(url)?.[1];
  return port === undefined ? undefined : Number(port);
}
