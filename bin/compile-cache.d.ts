/** The folder, made if it is not there. Undefined: there is none that is this user's alone. */
export function compileCacheFolder(environment: Readonly<Record<string, string | undefined>>): string | undefined;
