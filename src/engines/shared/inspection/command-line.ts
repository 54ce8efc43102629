/** Options of a command line by name. True: it has no value; undefined: it is left out. */
export type CommandOptions = Readonly<Record<string, string | number | true | undefined>>;

/**
 * A command line of a program and its options, one a line, as it can be pasted into a shell.
 */
export function commandLine(program: string, options: CommandOptions): string {
  const words = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined) {
      return [];
    }
    return value === true ? [name] : [`${name} ${quoted(String(value))}`];
  });
  return [program, ...words].join(" \\\n  ");
}

/** A word that a shell takes as it is. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The port of a server's URL. */
export function parsePort(url: string): number | undefined {
  const port = /:(\d+)\/?$/.exec(url)?.[1];
  return port === undefined ? undefined : Number(port);
}
