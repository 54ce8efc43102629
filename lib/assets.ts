/**
 * True in the package that npm installs and in the one binary: there the sources are JavaScript, below `dist`. A clone runs its
 * TypeScript as it is.
 */
export const isPackaged = !import.meta.url.endsWith(".ts");

const root = new URL(isPackaged ? "../../" : "../", import.meta.url);

/** A file that comes with the program, such as `gen/openapi.json`, by its path below the repository's root. */
export function packagedFile(path: string): URL {
  return new URL(path, root);
}
