import { ConfigError } from "../config-error.ts";
import { type Environment, readSetting } from "../environment.ts";
import type { PlaceOf } from "../load.ts";
import type { Path } from "../problems/path.ts";
import { toProviders } from "../providers.ts";
import type { Config } from "../schema.ts";
import { type NamedSecret, placeOfNamed, readNamed } from "./named-secret.ts";
import { isGuessable, strongSecret } from "./secret-strength.ts";

/** An internal service that calls on behalf of accounts. */
export interface ServiceCredential {
  readonly name: string;
  readonly token: string;
  /** The accounts that it may name as payers. Undefined: any. */
  readonly accounts?: readonly string[];
}

/** The secrets that the configuration names files or environment variables for. */
export interface NamedSecrets {
  /** The secret key for Stripe. Undefined: nobody buys credit there. */
  readonly stripeSecretKey: string | undefined;
  /** The secret that Stripe signs events with. Undefined: no events are taken. */
  readonly stripeWebhookSecret: string | undefined;
  /** The client secrets for identity providers, by the providers' ids. Absent: a provider has none. */
  readonly oidcClientSecrets: ReadonlyMap<string, string>;
  /** The URL of the mail server, with its password. Undefined: no mail is sent. */
  readonly smtpUrl: string | undefined;
  /** The secret access key for the bucket of archives. Undefined: they are in a folder. */
  readonly archiveSecretKey: string | undefined;
  readonly services: readonly ServiceCredential[];
}

/** Reads all of them. Throws ConfigError for one that is not there or is none. */
export async function readNamedSecrets(
  config: Config,
  environment: Environment,
  placeOf: PlaceOf,
): Promise<NamedSecrets> {
  const named = toNamed(config);
  const read = (one: NamedSecret) => readNamed(one, environment, placeOf);
  const oidcClientSecrets = new Map<string, string>();
  for (const { id, ...one } of named.providers) {
    const secret = await read(one);
    if (secret !== undefined) {
      oidcClientSecrets.set(id, secret);
    }
  }
  const services: ServiceCredential[] = [];
  for (const { service, ...one } of named.services) {
    const token = (await read(one)) ?? "";
    if (isGuessable(token)) {
      throw new ConfigError(`${placeOfNamed(one, placeOf)}: ${one.file ?? one.name} ${strongSecret}`);
    }
    services.push({ name: service.name, token, ...(service.accounts ? { accounts: service.accounts } : {}) });
  }
  return {
    stripeSecretKey: await read(named.stripeSecretKey),
    stripeWebhookSecret: await readWebhookSecret(named.stripeWebhookSecret, environment, placeOf),
    oidcClientSecrets,
    smtpUrl: await readSmtpUrl(config, named.smtpUrl, environment, placeOf),
    archiveSecretKey: await read(named.archiveSecretKey),
    services,
  };
}

/** The files that the configuration names. */
export function secretFiles(config: Config): string[] {
  const { providers, services, ...others } = toNamed(config);
  return [...Object.values(others), ...providers, ...services].flatMap(({ file }) => file ?? []);
}

function toNamed({ payments: { stripe }, receipts: { archive_s3: archive }, mail, sign_in, services }: Config) {
  const of = (path: Path, stem: string, file: string | undefined, name: string | undefined): NamedSecret => ({
    ...{ path, stem, file, name },
  });
  const { secret_key_file, secret_key_env, webhook_secret_file, webhook_secret_env } = stripe ?? {};
  const { secret_access_key_file, secret_access_key_env } = archive ?? {};
  return {
    stripeSecretKey: of(["payments", "stripe"], "secret_key", secret_key_file, secret_key_env),
    stripeWebhookSecret: of(["payments", "stripe"], "webhook_secret", webhook_secret_file, webhook_secret_env),
    archiveSecretKey: of(
      ["receipts", "archive_s3"],
      "secret_access_key",
      secret_access_key_file,
      secret_access_key_env,
    ),
    smtpUrl: of(["mail", "smtp"], "url", mail?.smtp.url_file, mail?.smtp.url_env),
    providers: toProviders(sign_in).map(({ id, path, client_secret_file, client_secret_env }) => ({
      id,
      ...of(path, "client_secret", client_secret_file, client_secret_env),
    })),
    services: services.map((service, index) => ({
      service,
      ...of(["services", index], "token", service.token_file, service.token_env),
    })),
  };
}

/** From the file or variable that the configuration names, or from the setting; not from both. */
async function readWebhookSecret(named: NamedSecret, environment: Environment, placeOf: PlaceOf) {
  const own = await readNamed(named, environment, placeOf);
  const setting = await readSetting(environment, "TOLLGATE_STRIPE_WEBHOOK_SECRET");
  const { file, name } = named;
  if (own !== undefined && setting !== undefined && name !== "TOLLGATE_STRIPE_WEBHOOK_SECRET") {
    const where = placeOfNamed(named, placeOf);
    throw new ConfigError(`${where}: ${file ?? name} and TOLLGATE_STRIPE_WEBHOOK_SECRET are both set: set one`);
  }
  return own ?? setting;
}

/** Undefined: no mail is configured. */
async function readSmtpUrl({ mail }: Config, named: NamedSecret, environment: Environment, placeOf: PlaceOf) {
  if (mail === undefined) {
    return undefined;
  }
  const url = mail.smtp.url ?? (await readNamed(named, environment, placeOf)) ?? "";
  if (!/^smtps?:\/\/[^/]/.test(url) || !URL.canParse(url)) {
    const { file, name } = named;
    const what = `${file ?? name} holds no URL such as smtp://user:password@mail.example.com:587`;
    throw new ConfigError(`${placeOfNamed(named, placeOf)}: ${what}`);
  }
  return url;
}
