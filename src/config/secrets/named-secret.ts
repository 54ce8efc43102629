import { ConfigError } from "../config-error.ts";
import { type Environment, readSecretFile } from "../environment.ts";
import type { PlaceOf } from "../load.ts";
import { formatPath, type Path } from "../problems/path.ts";

/** A secret for which the configuration names a file or an environment variable, or neither. */
export interface NamedSecret {
  /** The object that has the fields `STEM_file` and `STEM_env`. */
  readonly path: Path;
  readonly stem: string;
  readonly file: string | undefined;
  readonly name: string | undefined;
}

/** Where a secret is named, for the beginning of a message: `file:line: field`. */
export function placeOfNamed({ path, stem, file }: NamedSecret, placeOf: PlaceOf): string {
  const field = [...path, `${stem}_${file === undefined ? "env" : "file"}`];
  const place = placeOf(field);
  return `${place === undefined ? "" : `${place}: `}${formatPath(field)}`;
}

/** Reads a secret. Undefined: the configuration names none. Throws ConfigError when there is none where it says. */
export async function readNamed(
  named: NamedSecret,
  environment: Environment,
  placeOf: PlaceOf,
): Promise<string | undefined> {
  const { file, name } = named;
  if (file === undefined && name === undefined) {
    return undefined;
  }
  const where = placeOfNamed(named, placeOf);
  const secret = file ? await readSecretFile(file, where) : (environment[name ?? ""] ?? "").trim();
  if (secret === "") {
    throw new ConfigError(`${where}: ${file ?? name} holds no secret`);
  }
  return secret;
}
