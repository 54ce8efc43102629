import type { Environment } from "#src/config/environment.ts";
import { loadConfig } from "#src/config/load.ts";
import { findUnshared } from "#src/config/ports/shared-port.ts";
import type { Config } from "#src/config/schema.ts";
import { isGuessable, strongSecret } from "#src/config/secrets/secret-strength.ts";
import { peekSecrets, type Secrets } from "#src/config/secrets/secrets.ts";
import { serversOf } from "#src/storage/postgresql/servers.ts";
import type { Finding } from "./finding.ts";
import { checkArchives } from "./findings/archives.ts";
import { checkListen } from "./findings/listen.ts";
import { checkMail } from "./findings/mail.ts";
import { checkPrices } from "./findings/prices.ts";
import { checkRateLimits } from "./findings/rate-limits.ts";
import { checkServers } from "./findings/servers.ts";
import { checkSignIn } from "./findings/sign-in.ts";
import { checkSite } from "./findings/site.ts";
import { checkStandby } from "./findings/standby.ts";
import { checkStorage } from "./findings/storage.ts";
import { checkStripe } from "./findings/stripe.ts";
import { checkTls } from "./findings/tls.ts";
import { checkUsageEvents } from "./findings/usage-events.ts";

/** Checks a configuration and every part that it names, without changing anything. Throws ConfigError. */
export async function check(file: string, environment: Environment): Promise<Finding[]> {
  const config = await loadConfig(file);
  const secrets = await peekSecrets(config, environment);
  const groups = await Promise.all([
    checkStorage(secrets.storageUrl),
    checkStandby(secrets, config.storage.read_max_age_s),
    checkRateLimits(secrets.rateLimitUrl, secrets.storageUrl),
    checkListen(config, secrets),
    checkArchives(config, secrets),
    checkShared(config, secrets),
    checkTls(config.listen.tls),
    checkSignIn(config, secrets),
    checkSite(config),
    checkMail(config, secrets),
    checkStripe(config, secrets),
    checkUsageEvents(config, secrets),
    checkServers(config),
  ]);
  return [...checkFile(file, config), ...checkSecrets(secrets), ...checkPrices(config), ...groups.flat()];
}

/** A facade, which has no models, needs nothing to share its port. */
async function checkShared({ listen, models }: Config, secrets: Secrets): Promise<Finding[]> {
  const message = models.length === 0 ? undefined : findUnshared(listen, secrets);
  return message === undefined ? [] : [{ part: "listen.reuse_port", status: "wrong", message }];
}

function checkFile(file: string, { storage, rate_limits, mail }: Config): Finding[] {
  const part = "configuration";
  const urls = [
    ...serversOf(storage.url ?? ""),
    ...serversOf(storage.read_url ?? ""),
    rate_limits.url,
    mail?.smtp.url ?? "",
  ];
  const exposed = urls.filter((url) => URL.parse(url)?.password);
  if (exposed.length === 0) {
    return [{ part, status: "ok", message: `${file} is valid` }];
  }
  const mend =
    "TOLLGATE_STORAGE_URL, TOLLGATE_STORAGE_READ_URL, TOLLGATE_RATE_LIMIT_URL and mail.smtp.url_env keep passwords out of it";
  return [{ part, status: "warning", message: `${file} is valid, but holds a password: ${mend}` }];
}

function checkSecrets({ operatorToken, peppers }: Secrets): Finding[] {
  const [{ secret: pepper }] = peppers;
  return [
    { part: "operator token", ...judgeStrength(operatorToken, "anybody who guesses it runs the service") },
    { part: "key pepper", ...judgeStrength(pepper, "anybody who guesses it can tell keys from their digests") },
  ];
}

function judgeStrength(secret: string, danger: string): Omit<Finding, "part"> {
  if (secret === "") {
    return { status: "ok", message: "will be made on first start" };
  }
  return isGuessable(secret)
    ? { status: "wrong", message: `${strongSecret}: ${danger}` }
    : { status: "ok", message: "is set" };
}
