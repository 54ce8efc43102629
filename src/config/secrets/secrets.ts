import { join } from "node:path";
import type { Pepper } from "#lib/ids/pepper.ts";
import type { Random } from "#lib/ids/random.ts";
import { ConfigError } from "../config-error.ts";
import { readDataDir } from "../data-dir/data-dir.ts";
import { type Environment, isExposed, readSetting, type SettingName, settingNames } from "../environment.ts";
import type { PlaceOf } from "../load.ts";
import type { Config } from "../schema.ts";
import { withSchema } from "../storage-url.ts";
import { keepSecret, readIfThere } from "./kept-secrets.ts";
import { type NamedSecrets, readNamedSecrets, secretFiles } from "./named-secrets.ts";
import { isGuessable, strongSecret } from "./secret-strength.ts";

/** Secrets that the core needs besides the configuration file. */
export interface Secrets extends NamedSecrets {
  /** The directory in which an embedded service keeps its state. */
  readonly dataDir: string;
  readonly storageUrl: string;
  /**
   * The database for announcements of other cores when the storage is reached through a pooler. Undefined: storageUrl,
   * if it can carry them.
   */
  readonly listenUrl: string | undefined;
  /** The standby for long reads. Undefined: there is none. */
  readonly readUrl: string | undefined;
  readonly rateLimitUrl: string;
  readonly operatorToken: string;
  /** The first one makes new digests. The others are still recognised. */
  readonly peppers: readonly [Pepper, ...Pepper[]];
  /** The token that the receiver of usage events knows this service by. Undefined: it needs none. */
  readonly usageEventsToken: string | undefined;
  /** The files of secrets that every user of this machine may read. */
  readonly exposedFiles: readonly string[];
}

const operatorTokenFile = "operator-token";
const keyPepperFile = "key-pepper";
/** How a secret begins that is made here: an operator token as the tokens of all operators. */
const prefixes: Readonly<Record<string, string>> = { [operatorTokenFile]: "tgop_", [keyPepperFile]: "" };

/**
 * Reads secrets from the environment and from files. An embedded service, on SQLite, makes the operator token and the
 * key pepper at its first start and keeps them in its data directory, readable only by its user. Cores that share
 * PostgreSQL have to be given the same ones. Throws ConfigError, also where somebody could guess one. `placeOf`: where the
 * configuration's fields are written.
 */
export async function readSecrets(
  config: Config,
  environment: Environment,
  random: Random,
  placeOf: PlaceOf = nowhere,
): Promise<Secrets> {
  const keep = (dataDir: string, name: string) => keepSecret(dataDir, name, prefixes[name] ?? "", random);
  const secrets = await readSecretsWith(config, environment, placeOf, keep);
  const [pepper] = secrets.peppers; // older ones may stay until their keys are gone
  if (isGuessable(secrets.operatorToken)) {
    throw new ConfigError(`TOLLGATE_OPERATOR_TOKEN ${strongSecret}`);
  }
  if (isGuessable(pepper.secret)) {
    throw new ConfigError(`TOLLGATE_KEY_PEPPER ${strongSecret}`);
  }
  return secrets;
}

/** As readSecrets, but makes none: a secret that a start would make is empty. */
export async function peekSecrets(
  config: Config,
  environment: Environment,
  placeOf: PlaceOf = nowhere,
): Promise<Secrets> {
  const peek = async (dataDir: string, name: string) => (await readIfThere(join(dataDir, name))) ?? "";
  return readSecretsWith(config, environment, placeOf, peek);
}

const nowhere: PlaceOf = () => undefined;

/** The address of the database. */
export async function readStorageUrl(
  { storage }: Pick<Config, "storage">,
  environment: Environment,
  dataDir: string,
): Promise<string> {
  const set = (await readSetting(environment, "TOLLGATE_STORAGE_URL")) ?? storage.url;
  return withSchema(set ?? `sqlite:${join(dataDir, "tollgate.db")}`, storage.schema);
}

/** The address of the standby. Throws ConfigError where the database is a file of SQLite. */
async function readReadUrl({ storage }: Config, environment: Environment, storageUrl: string) {
  const url = (await readSetting(environment, "TOLLGATE_STORAGE_READ_URL")) ?? storage.read_url;
  if (url !== undefined && storageUrl.startsWith("sqlite:")) {
    throw new ConfigError("storage.read_url: only PostgreSQL has standbys");
  }
  return url && withSchema(url, storage.schema);
}

async function readSecretsWith(
  config: Config,
  environment: Environment,
  placeOf: PlaceOf,
  keep: (dataDir: string, name: string) => Promise<string>,
): Promise<Secrets> {
  const dataDir = await readDataDir(environment);
  const storageUrl = await readStorageUrl(config, environment, dataDir);
  const embedded = storageUrl.startsWith("sqlite:");
  const missing: string[] = [];
  const secret = async (name: SettingName, file: string) => {
    const value = await readSetting(environment, name);
    if (value !== undefined) {
      return value;
    }
    if (embedded) {
      return keep(dataDir, file);
    }
    missing.push(`environment: ${name} or ${name}_FILE must be set, the same for every core`);
    return "";
  };
  const operatorToken = await secret("TOLLGATE_OPERATOR_TOKEN", operatorTokenFile);
  const keyPepper = await secret("TOLLGATE_KEY_PEPPER", keyPepperFile);
  if (missing.length > 0) {
    throw new ConfigError(missing.join("\n"));
  }
  return {
    dataDir,
    storageUrl,
    listenUrl: (await readSetting(environment, "TOLLGATE_STORAGE_LISTEN_URL")) ?? config.storage.listen_url,
    readUrl: await readReadUrl(config, environment, storageUrl),
    rateLimitUrl: (await readSetting(environment, "TOLLGATE_RATE_LIMIT_URL")) ?? config.rate_limits.url,
    operatorToken,
    peppers: parsePeppers(keyPepper),
    usageEventsToken: await readSetting(environment, "TOLLGATE_USAGE_EVENTS_TOKEN"),
    ...(await readNamedSecrets(config, environment, placeOf)),
    exposedFiles: await findExposed(config, environment),
  };
}

/** The files of secrets that every user of this machine may read. */
async function findExposed(config: Config, environment: Environment): Promise<string[]> {
  const named = [...settingNames.flatMap((name) => environment[`${name}_FILE`] ?? []), ...secretFiles(config)];
  const files = [...new Set(named)];
  const exposed = await Promise.all(files.map(isExposed));
  return files.filter((_, at) => exposed[at]);
}

/**
 * The operator token for calling a core: from the environment, otherwise from the data directory. Throws ConfigError.
 */
export async function readOperatorToken(environment: Environment): Promise<string> {
  const value = await readSetting(environment, "TOLLGATE_OPERATOR_TOKEN");
  if (value !== undefined) {
    return value;
  }
  const file = join(await readDataDir(environment), operatorTokenFile);
  const token = await readIfThere(file);
  if (token) {
    return token;
  }
  throw new ConfigError(
    `no operator token: set TOLLGATE_OPERATOR_TOKEN or TOLLGATE_OPERATOR_TOKEN_FILE, or TOLLGATE_DATA_DIR to the directory of the running service (there is no ${file})`,
  );
}

/** Reads `version:secret` pairs separated by commas, the current one first. Any other text is one secret, version 1. */
function parsePeppers(text: string): [Pepper, ...Pepper[]] {
  if (!/^\d{1,5}:[^,:]+(,\d{1,5}:[^,:]+)*$/.test(text)) {
    return [{ version: 1, secret: text }];
  }
  const pairs = text.split(",").map((pair): Pepper => {
    const [version = "", secret = ""] = pair.split(":");
    return { version: Number(version), secret };
  });
  return pairs as [Pepper, ...Pepper[]];
}
