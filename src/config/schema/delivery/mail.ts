import * as z from "zod";
import { plainName } from "../values.ts";

const isSmtp = (text: string) => {
  const url = URL.parse(text);
  return url !== null && ["smtp:", "smtps:"].includes(url.protocol) && url.hostname !== "";
};

/** A name and an address, or an address alone. */
const sender = /^(?:[^<>]{0,200}<[^\s@<>]{1,64}@[^\s@<>]+>|[^\s@<>]{1,64}@[^\s@<>]+)$/u;

const smtp = z
  .strictObject({
    url: z
      .string()
      .refine(isSmtp, "must be a URL such as smtp://user:password@mail.example.com:587 or smtps://mail.example.com")
      .optional()
      .describe("The server that mail is given to. A password belongs into url_env or url_file."),
    url_env: z.string().min(1).optional().describe("An environment variable that holds the URL."),
    url_file: z.string().min(1).optional().describe("A file that holds the URL."),
  })
  .refine(
    ({ url, url_env, url_file }) => [url, url_env, url_file].filter((one) => one !== undefined).length === 1,
    "needs exactly one of url, url_env and url_file",
  );

const most = (count: number) => z.int().min(1).max(1_000_000).default(count);

/** Mail to customers. */
export const mail = z
  .strictObject({
    from: plainName
      .max(320)
      .regex(sender, "must be an address, or a name with an address, such as Example <no-reply@example.com>")
      .describe("Who mail comes from."),
    smtp: smtp.describe("The mail server."),
    templates: z
      .string()
      .min(1)
      .optional()
      .describe("A folder with templates that take the place of Tollgate's of the same names. Default: none do."),
    an_hour: z
      .strictObject({
        address: most(10).describe("Mails to one address: those that people ask for, and as many that events cause."),
        network: most(30).describe("Mails that people of one network (an IPv4 address, a /56 of IPv6) ask for."),
        all: most(5000).describe("Mails that people ask for, all together."),
      })
      .prefault({})
      .describe("The most mails an hour. What is above is not sent."),
  })
  .optional()
  .describe("How customers get mail. Default: they get none.");
