import { bareHost, isLoopback } from "#lib/net/address.ts";
import type { Clock } from "#lib/time/clock.ts";
import type { Letter } from "./templates.ts";

/** How long a server may take to connect, to greet, or to answer a command. */
const stepMs = 15_000;
/** How long one mail may take. */
export const mailMs = 60_000;
const longestError = 500;

/** A mail on its way. */
export interface Envelope extends Letter {
  readonly to: string;
  /** The same for every attempt, so that a mail server can drop a repeat. */
  readonly messageId: string;
}

/** The outcome of an attempt. */
export interface MailAttempt {
  readonly outcome: "sent" | "later" | "refused";
  /** For people. Empty: no error. */
  readonly error: string;
}

/** Sends one mail. Never rejects. */
export type SendMail = (envelope: Envelope) => Promise<MailAttempt>;

export interface Dependencies {
  /** smtp://user:password@host:port, or smtps://…. */
  readonly url: string;
  /** "Example <no-reply@example.com>" */
  readonly from: string;
  readonly clock: Clock;
}

/**
 * Sends by SMTP, each mail over a connection of its own. A password goes over TLS alone, unless the server is on this machine.
 * The server's answer 5xx is final; everything else may get better.
 */
export function createSmtp({ url, from, clock }: Dependencies): SendMail {
  const options = toOptions(url);
  return async ({ to, subject, text, html, messageId }) => {
    const { createTransport } = await loadMailer();
    const transport = createTransport(options);
    const late = Promise.withResolvers<never>();
    const cancel = clock.after(mailMs, () => late.reject(new Error(`not taken within ${mailMs / 1000} s`)));
    const headers = { "auto-submitted": "auto-generated" };
    try {
      await Promise.race([transport.sendMail({ from, to, subject, text, html, messageId, headers }), late.promise]);
      return { outcome: "sent", error: "" };
    } catch (error) {
      const { message, responseCode } = error as Error & { responseCode?: number };
      const outcome = responseCode !== undefined && isFinal(responseCode) ? "refused" : "later";
      return { outcome, error: message.slice(0, longestError) };
    } finally {
      cancel();
      transport.close();
    }
  };
}

/** Asks the server whether it would take mail. Throws what is wrong. */
export async function verifySmtp(url: string): Promise<void> {
  const { createTransport } = await loadMailer();
  const transport = createTransport(toOptions(url));
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

/** A service without mail does not hold the library in its memory. */
const loadMailer = () => import("nodemailer");

function toOptions(url: string) {
  const { hostname, username } = new URL(url);
  const isNear = isLoopback(bareHost(hostname));
  return {
    url,
    requireTLS: username !== "" && !isNear && url.startsWith("smtp:"),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
    dnsTimeout: stepMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** A wrong password or a missing right to send (53x) is mended by an operator; the mail is not at fault. */
function isFinal(code: number): boolean {
  return code >= 500 && (code < 530 || code > 539);
}
