import { join } from "node:path";
import type { Pepper } from "#lib/ids/pepper.ts";
import type { Random } from "#lib/ids/random.ts";
import { ConfigError } from "../config-error.ts";
import { readDataDir } from "../data-dir/data-dir.ts";
import { type Environment, isExposed, readSetting, type SettingName, settingNames } from "../environment.ts";
import { toProviders } from "../providers.ts";
import type { Config } from "../schema.ts";
import { withSchema } from "../storage-url.ts";
import { keepSecret, readIfThere } from "./kept-secrets.ts";
import {
  readNamed,
  readOidcSecrets,
  readService,
  readSmtpUrl,
  readWebhookSecret,
  type ServiceCredential,
} from "./named-secrets.ts";
import { isGuessable, strongSecret } from "./secret-strength.ts";

/** Secrets that the core needs besides the configuration file. */
export interface Secrets {
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
  readonly services: readonly ServiceCredential[];
  /** The secret key for Stripe. Undefined: nobody buys credit there. */
  readonly stripeSecretKey: string | undefined;
  /** The secret that Stripe signs events with. Undefined: no events are taken. */
  readonly stripeWebhookSecret: string | undefined;
  /** The token that the receiver of usage events knows this service by. Undefined: it needs none. */
  readonly usageEventsToken: string | undefined;
  /** The client secrets for identity providers, by the providers' ids. Absent: a provider has none. */
  readonly oidcClientSecrets: ReadonlyMap<string, string>;
  /** The files of secrets that every user of this machine may read. */
  readonly exposedFiles: readonly string[];
  /** The secret access key for the bucket of archives. Undefined: they are in a folder. */
  readonly archiveSecretKey: string | undefined;
  /** The URL of the mail server, with its password. Undefined: no mail is sent. */
  readonly smtpUrl: string | undefined;
}

const operatorTokenFile = "operator-token";
const keyPepperFile = "key-pepper";

/**
 * Reads secrets from the environment and from files. An embedded service, on SQLite, makes the operator token and the
 * key pepper at its first start and keeps them in its data directory, readable only by its user. Cores that share
 * PostgreSQL have to be given the same ones. Throws ConfigError, also where somebody could guess one.
 */
export async function readSecrets(config: Config, environment: Environment, random: Random): Promise<Secrets> {
  const secrets = await readSecretsWith(config, environment, (dataDir, name) => keepSecret(dataDir, name, random));
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
export async function peekSecrets(config: Config, environment: Environment): Promise<Secrets> {
  return readSecretsWith(config, environment, async (dataDir, name) => (await readIfThere(join(dataDir, name))) ?? "");
}

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
    stripeSecretKey: await readNamed("payments.stripe.secret_key", environment, {
      file: config.payments.stripe?.secret_key_file,
      name: config.payments.stripe?.secret_key_env,
    }),
    stripeWebhookSecret: await readWebhookSecret(config, environment),
    usageEventsToken: await readSetting(environment, "TOLLGATE_USAGE_EVENTS_TOKEN"),
    oidcClientSecrets: await readOidcSecrets(config, environment),
    smtpUrl: await readSmtpUrl(config, environment),
    archiveSecretKey: await readNamed("receipts.archive_s3.secret_access_key", environment, {
      file: config.receipts.archive_s3?.secret_access_key_file,
      name: config.receipts.archive_s3?.secret_access_key_env,
    }),
    services: await Promise.all(config.services.map((service) => readService(service, environment))),
    exposedFiles: await findExposed(config, environment),
  };
}

/** The files of secrets that every user of this machine may read. */
async function findExposed(config: Config, environment: Environment): Promise<string[]> {
  const files = [
    ...settingNames.map((name) => environment[`${name}_FILE`]),
    ...config.services.map(({ token_file: file }) => file),
    ...toProviders(config.sign_in).map(({ client_secret_file }) => client_secret_file),
    config.receipts.archive_s3?.secret_access_key_file,
  ].filter((file) => file !== undefined);
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
