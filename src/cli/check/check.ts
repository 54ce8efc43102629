import type { Environment } from "../../config/environment.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { peekSecrets } from "../../config/secrets.ts";
import type { Finding } from "./finding.ts";
import { checkListen } from "./listen.ts";
import { checkRateLimits } from "./rate-limits.ts";
import { checkServers } from "./servers.ts";
import { checkStorage } from "./storage.ts";
import { checkTls } from "./tls.ts";

/** Looks at a configuration and at every part that it names, without changing anything. Throws ConfigError. */
export async function check(file: string, environment: Environment): Promise<Finding[]> {
  const config = await loadConfig(file);
  const secrets = await peekSecrets(config, environment);
  const groups = await Promise.all([
    checkStorage(secrets.storageUrl),
    checkRateLimits(secrets.rateLimitUrl, secrets.storageUrl),
    checkListen(config.listen),
    checkTls(config.listen.tls),
    checkServers(config),
  ]);
  return [...checkFile(file, config), ...checkSecrets(secrets.operatorToken), ...groups.flat()];
}

function checkFile(file: string, { storage, rate_limits }: Config): Finding[] {
  const part = "configuration";
  const exposed = [storage.url ?? "", rate_limits.url].filter((url) => URL.parse(url)?.password);
  if (exposed.length === 0) return [{ part, status: "ok", message: `${file} is valid` }];
  const mend = "TOLLGATE_STORAGE_URL and TOLLGATE_RATE_LIMIT_URL keep passwords out of it";
  return [{ part, status: "warning", message: `${file} is valid, but holds a password: ${mend}` }];
}

function checkSecrets(operatorToken: string): Finding[] {
  const part = "operator token";
  if (operatorToken === "") return [{ part, status: "ok", message: "will be made on first start" }];
  if (operatorToken.length >= 16) return [{ part, status: "ok", message: "is set" }];
  return [{ part, status: "warning", message: "is short: anybody who guesses it runs the service" }];
}
