import { type Environment, type SettingName, settingNames } from "./environment.ts";
import { loadConfigFile, noFile } from "./load.ts";
import { formatPath, type Path } from "./problems/path.ts";
import type { Config } from "./schema.ts";
import { peekSecrets, type Secrets } from "./secrets/secrets.ts";

/** A value that a start would use. */
export interface Setting {
  /** Such as `models[0].price.input`. */
  readonly setting: string;
  readonly value: string | number | boolean;
  /** `default`, `file:line`, or the environment variable. */
  readonly source: string;
}

const hiddenText = "(hidden)";

/** Settings that may come from outside the configuration file, as a start would read them. */
const fromEnvironment: Record<SettingName, { setting: string; value: (secrets: Secrets) => string }> = {
  TOLLGATE_DATA_DIR: { setting: "data_dir", value: ({ dataDir }) => dataDir },
  TOLLGATE_STORAGE_URL: { setting: "storage.url", value: ({ storageUrl }) => storageUrl },
  TOLLGATE_STORAGE_LISTEN_URL: {
    setting: "storage.listen_url",
    value: ({ listenUrl, storageUrl }) => listenUrl ?? storageUrl,
  },
  TOLLGATE_STORAGE_READ_URL: {
    setting: "storage.read_url",
    value: ({ readUrl }) => readUrl ?? "(the primary)",
  },
  TOLLGATE_RATE_LIMIT_URL: { setting: "rate_limits.url", value: ({ rateLimitUrl }) => rateLimitUrl },
  TOLLGATE_OPERATOR_TOKEN: { setting: "operator_token", value: ({ operatorToken }) => hidden(operatorToken) },
  TOLLGATE_KEY_PEPPER: { setting: "key_pepper", value: ({ peppers }) => hidden(peppers[0].secret) },
  TOLLGATE_STRIPE_WEBHOOK_SECRET: {
    setting: "stripe_webhook_secret",
    value: ({ stripeWebhookSecret }) => (stripeWebhookSecret === undefined ? "(off)" : hiddenText),
  },
  TOLLGATE_USAGE_EVENTS_TOKEN: {
    setting: "usage_events_token",
    value: ({ usageEventsToken }) => (usageEventsToken === undefined ? "(none)" : hiddenText),
  },
};

/** Every value of the effective configuration and its origin, with secrets hidden. Throws ConfigError. */
export async function effectiveConfig(file: string | undefined, environment: Environment): Promise<Setting[]> {
  const { config, placeOf } = file === undefined ? noFile() : await loadConfigFile(file);
  const secrets = await peekSecrets(config, environment, placeOf);
  const settings = new Map<string, Setting>();
  for (const { path, value } of leaves(config)) {
    const setting = formatPath(path);
    settings.set(setting, { setting, value: withoutPassword(value), source: placeOf(path) ?? "default" });
  }
  for (const name of settingNames) {
    const { setting, value } = fromEnvironment[name];
    const variable = [name, `${name}_FILE`].find((one) => environment[one] !== undefined);
    const source = variable ?? settings.get(setting)?.source ?? "default";
    settings.set(setting, { setting, value: withoutPassword(value(secrets)), source });
  }
  return [...settings.values()];
}

function hidden(secret: string): string {
  return secret === "" ? "(made at the first start)" : hiddenText;
}

function* leaves(value: Config | object, path: Path = []): Generator<{ path: Path; value: Setting["value"] }> {
  for (const [name, child] of Object.entries(value)) {
    const below = [...path, Array.isArray(value) ? Number(name) : name];
    if (typeof child === "object") {
      yield* leaves(child, below);
    } else if (child !== undefined) {
      yield { path: below, value: child };
    }
  }
}

const isSecret = /password|secret|token|key/i;

/** Hides a URL's password, both before the host and among the parameters. */
function withoutPassword<Value extends Setting["value"]>(value: Value): Value | string {
  if (typeof value !== "string" || !value.includes("://")) {
    return value;
  }
  return value
    .replace(/(:\/\/[^/?#@:]*:).*@/, `$1${hiddenText}@`)
    .replace(/([?&])([^?=&]*)=[^&#]*/g, (whole, start, name) =>
      isSecret.test(name) ? `${start}${name}=${hiddenText}` : whole,
    );
}
