import { X509Certificate } from "node:crypto";
import { dayMs } from "#lib/time/days.ts";
import { readTls, type TlsFiles } from "#src/config/tls/tls.ts";
import { type Finding, toReason } from "../finding.ts";

/** Checks that the certificate and its key can be used, and for how long. */
export async function checkTls(files: TlsFiles | undefined): Promise<Finding[]> {
  if (files === undefined) {
    return [];
  }
  const part = "listen.tls";
  try {
    const { validFromDate, validToDate } = new X509Certificate((await readTls(files)).cert);
    const until = validToDate.toISOString().slice(0, 10);
    if (validFromDate.getTime() > Date.now()) {
      return [{ part, status: "wrong", message: `${files.cert} is not valid yet: look at this machine's clock` }];
    }
    const days = Math.floor((validToDate.getTime() - Date.now()) / dayMs);
    if (days < 0) {
      return [{ part, status: "wrong", message: `${files.cert} expired on ${until}: renew it` }];
    }
    const message = `${files.cert} is valid until ${until}`;
    return [days < 7 ? { part, status: "warning", message: `${message}: renew it` } : { part, status: "ok", message }];
  } catch (error) {
    return [{ part, status: "wrong", message: toReason(error) }];
  }
}
