import { openTemplates } from "#src/compose/core/mail.ts";
import type { Config } from "#src/config/schema.ts";
import type { Secrets } from "#src/config/secrets/secrets.ts";
import { verifySmtp } from "#src/delivery/mail/smtp.ts";
import { type Finding, toReason } from "../finding.ts";

/** Checks that the templates can be used and that the mail server lets this service in. */
export async function checkMail(config: Config, { smtpUrl }: Secrets): Promise<Finding[]> {
  const part = "mail";
  if (config.mail === undefined || smtpUrl === undefined) {
    return [];
  }
  const { host } = new URL(smtpUrl);
  try {
    await openTemplates(config);
    await verifySmtp(smtpUrl);
    return [{ part, status: "ok", message: `${host} takes mail` }];
  } catch (error) {
    return [{ part, status: "wrong", message: `${host}: ${toReason(error)}: check mail.smtp and mail.templates` }];
  }
}
