/** The kinds of mails that people get at a sign-in or an invitation. */
export type MailKind = "invitation" | "sign-in-link";

/** Puts a mail into what sends mails. Undefined where it is used: no mail is configured. */
export type SendMail = (kind: MailKind, to: string, values: Readonly<Record<string, string>>) => Promise<void>;
