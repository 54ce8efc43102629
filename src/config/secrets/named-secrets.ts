import { ConfigError } from "../config-error.ts";
import { type Environment, readSecretFile, readSetting } from "../environment.ts";
import { toProviders } from "../providers.ts";
import type { Config } from "../schema.ts";
import { isGuessable, strongSecret } from "./secret-strength.ts";

/** An internal service that calls on behalf of accounts. */
export interface ServiceCredential {
  readonly name: string;
  readonly token: string;
  /** The accounts that it may name as payers. Undefined: any. */
  readonly accounts?: readonly string[];
}

/** The client secrets of identity providers, by their ids. */
export async function readOidcSecrets(
  { sign_in }: Config,
  environment: Environment,
): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map<string, string>();
  for (const { id, client_secret_file: file, client_secret_env: name } of toProviders(sign_in)) {
    const secret = await readNamed(`sign_in: the provider ${id}`, environment, { file, name });
    if (secret !== undefined) {
      secrets.set(id, secret);
    }
  }
  return secrets;
}

/** From the file or variable that the configuration names, or from the setting; not from both. */
export async function readWebhookSecret({ payments }: Config, environment: Environment): Promise<string | undefined> {
  const { webhook_secret_file: file, webhook_secret_env: name } = payments.stripe ?? {};
  const own = await readNamed("payments.stripe.webhook_secret", environment, { file, name });
  const setting = await readSetting(environment, "TOLLGATE_STRIPE_WEBHOOK_SECRET");
  if (own !== undefined && setting !== undefined && name !== "TOLLGATE_STRIPE_WEBHOOK_SECRET") {
    throw new ConfigError(`payments.stripe: ${file ?? name} and TOLLGATE_STRIPE_WEBHOOK_SECRET are both set: set one`);
  }
  return own ?? setting;
}

/** A secret that the configuration names a file or an environment variable for. Undefined: it names neither. */
export async function readNamed(
  where: string,
  environment: Environment,
  { file, name }: { readonly file: string | undefined; readonly name: string | undefined },
): Promise<string | undefined> {
  if (file === undefined && name === undefined) {
    return undefined;
  }
  const secret = file ? await readSecretFile(file, where) : (environment[name ?? ""] ?? "").trim();
  if (secret === "") {
    throw new ConfigError(`${where}: ${file ?? name} holds no secret`);
  }
  return secret;
}

/** The URL of the mail server. Undefined: no mail is configured. */
export async function readSmtpUrl({ mail }: Config, environment: Environment): Promise<string | undefined> {
  if (mail === undefined) {
    return undefined;
  }
  const { url, url_env: name, url_file: file } = mail.smtp;
  const where = "mail.smtp";
  const found = url ?? (file ? await readSecretFile(file, where) : (environment[name ?? ""] ?? "").trim());
  if (!/^smtps?:\/\/[^/]/.test(found) || !URL.canParse(found)) {
    throw new ConfigError(`${where}: ${file ?? name} holds no URL such as smtp://user:password@mail.example.com:587`);
  }
  return found;
}

/** The token of a service, which nobody may guess. */
export async function readService(
  service: Config["services"][number],
  environment: Environment,
): Promise<ServiceCredential> {
  const where = `services: ${service.name}`;
  const token = service.token_file
    ? await readSecretFile(service.token_file, where)
    : (environment[service.token_env ?? ""] ?? "").trim();
  if (token === "") {
    throw new ConfigError(`${where}: ${service.token_file ?? service.token_env} holds no token`);
  }
  if (isGuessable(token)) {
    throw new ConfigError(`${where}: ${service.token_file ?? service.token_env} ${strongSecret}`);
  }
  return { name: service.name, token, ...(service.accounts ? { accounts: service.accounts } : {}) };
}
